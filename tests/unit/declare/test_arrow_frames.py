"""Local frames become Arrow tables without losing a value, or are refused."""

from datetime import UTC, date, datetime, time
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ematix_flow.declare.arrow_frames import arrow_table, carried_type, library_of
from ematix_flow.errors import ContractError, DeclarationError


def test_a_frame_is_told_by_its_library():
    assert library_of(pd.DataFrame({"a": [1]})) == "pandas"
    assert library_of(pa.table({"a": [1]})) == "pyarrow"
    assert [library_of(each) for each in (pd.Series([1]), pa.array([1]), {"a": [1]}, None)] == (
        [None] * 4
    )


@pytest.mark.proves("frames")
def test_what_pandas_marks_as_missing_is_null():
    frame = pd.DataFrame(
        {
            "number": [1.5, float("nan")],
            "text": ["a", None],
            "at": pd.to_datetime(["2026-01-02 03:04:05.678901", None]),
            "whole": pd.array([2**63 - 1, None], dtype="Int64"),
            "kind": pd.Categorical(["x", None]),
        }
    )
    assert arrow_table(frame).to_pylist() == [
        {
            "number": 1.5,
            "text": "a",
            "at": datetime(2026, 1, 2, 3, 4, 5, 678901),
            "whole": 2**63 - 1,
            "kind": "x",
        },
        dict.fromkeys(frame.columns),
    ]


@pytest.mark.proves("frames")
def test_polars_frames_lazy_or_not():
    pl = pytest.importorskip("polars")
    values = {
        "id": pl.Series([1, 2**64 - 1], dtype=pl.UInt64),
        "kind": pl.Series(["a", None], dtype=pl.Categorical),
        "price": pl.Series([Decimal("1.20"), None]),
        "at": pl.Series([datetime(2026, 1, 1, tzinfo=UTC), None]),
        "tags": pl.Series([["x"], []]),
    }
    frame = pl.DataFrame(values)
    rows = arrow_table(frame).to_pylist()
    assert rows == arrow_table(frame.lazy()).to_pylist()
    assert rows[0] == {
        "id": Decimal(1),
        "kind": "a",
        "price": Decimal("1.20"),
        "at": datetime(2026, 1, 1, tzinfo=UTC),
        "tags": ["x"],
    }
    assert rows[1]["id"] == Decimal(2**64 - 1)


@pytest.mark.proves("frames")
def test_batches_and_readers_are_read_whole():
    batch = pa.record_batch({"a": [1, 2]})
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch, batch])
    assert arrow_table(batch).num_rows == 2
    assert arrow_table(reader).num_rows == 4


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (lambda: pd.DataFrame({"a": [1]}).set_index("a"), "index 'a' is no column"),
        (lambda: pd.DataFrame([[1, 2]]), "has a column 0: a column's name is text"),
        (lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]), "Duplicate column names"),
        (lambda: pd.DataFrame({"a": [1, "x"]}), "cannot be carried exactly: .* column a"),
        (pd.DataFrame, "has no columns"),
        (lambda: pa.table({"a": [time(1)]}), "'a' of the frame is time64"),
        (lambda: pa.table({"a": pa.array([[(1, 2)]], pa.map_("int8", "int8"))}), "'a' .* is map"),
    ],
)
def test_a_frame_that_would_lose_something_is_refused(frame, told):
    with pytest.raises(DeclarationError, match=told) as caught:
        arrow_table(frame())
    assert "test_arrow_frames.py" in str(caught.value)


def test_a_nanosecond_is_refused_and_a_frame_without_any_is_not():
    exact = pa.table({"at": pa.array([1_000], pa.timestamp("ns"))})
    assert arrow_table(exact).schema.field("at").type == pa.timestamp("us")
    lost = pa.table({"at": pa.array([1_001], pa.timestamp("ns"))})
    with pytest.raises(ContractError, match=r"'at' of the frame is timestamp.ns., and cannot be"):
        arrow_table(lost)


_LEAVES = [
    *(pa.int8(), pa.int64(), pa.uint8(), pa.uint64(), pa.float16(), pa.float64(), pa.bool_()),
    *(pa.string(), pa.large_string(), pa.binary(), pa.binary(4), pa.date32(), pa.date64()),
    *(pa.timestamp("ns"), pa.timestamp("s", tz="Europe/Oslo"), pa.decimal256(38, 3), pa.null()),
]
_TYPES = st.recursive(
    st.sampled_from(_LEAVES),
    lambda inner: st.one_of(
        inner.map(pa.list_),
        inner.map(pa.large_list),
        inner.map(lambda kind: pa.struct({"f": kind})),
    ),
    max_leaves=3,
)


@given(_TYPES)
def test_every_carried_type_is_carried_as_it_is(kind):
    carried = carried_type(kind)
    assert carried is not None
    assert carried_type(carried) == carried
    empty = arrow_table(pa.table({"a": pa.array([], kind)}))
    assert empty.schema.field("a").type == carried


def test_a_date_arrives_as_the_day_it_is():
    found = arrow_table(pa.table({"day": pa.array([date(2026, 2, 28)], pa.date64())}))
    assert found.to_pylist() == [{"day": date(2026, 2, 28)}]
