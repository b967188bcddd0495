"""Functions for SQL, on Spark: exact types, groups in parts, errors that name the user's line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ematix_flow import (
    Array,
    BigInt,
    Boolean,
    Bytes,
    Date,
    Double,
    Float,
    Integer,
    Numeric,
    SmallInt,
    Struct,
    Text,
    Timestamp,
    TimestampTZ,
)
from ematix_flow.declare.project import Project, declaring_into
from ematix_flow.declare.udfs import udaf, udf
from ematix_flow.errors import UserCodeError
from ematix_flow.spec.types import DataType
from ematix_flow.sqltext.function_names import functions
from ematix_flow.sqltext.spark_functions import SPARK_OVER_ROWS
from ematix_flow.transform import udf_call
from ematix_flow.transform.arrow_values import widens
from ematix_flow.transform.udf import register_udfs
from ematix_flow.transform.udf_failure import read_failure
from tests.spark.engine.scripts import play
from tests.spark.udf_project import LOAD, USE, assert_used, project_folder

HERE = "tests/spark/test_udfs.py"


@dataclass
class Session:
    """A session, and the project whose functions it gets."""

    spark: Any
    project: Project

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        register_udfs(self.spark, self.project.udfs.values())
        return [tuple(row) for row in self.spark.sql(sql).collect()]

    def failure(self, sql: str) -> UserCodeError:
        with pytest.raises(Exception, match="EMATIX_UDF_FAILURE") as caught:
            self.rows(sql)
        found = read_failure(str(caught.value))
        assert found is not None
        return found


@pytest.fixture
def session(spark: Any) -> Iterator[Session]:
    project = Project()
    with declaring_into(project):
        yield Session(spark, project)


def line_of(text: str) -> int:
    [number] = [
        number
        for number, line in enumerate(Path(__file__).read_text().splitlines(), start=1)
        if line.strip().endswith(text)
    ]
    return number


class Total:
    """A sum that remembers whether there was anything to add."""

    def __init__(self) -> None:
        self.total: int | None = None

    def update_batch(self, values: pa.Array) -> None:
        self.total = pc.sum(values).as_py()

    def state(self) -> list[object]:
        return [self.total]

    def merge_batch(self, states: list[pa.Array]) -> None:
        self.total = pc.sum(pa.concat_arrays([*states, pa.array([self.total], pa.int64())])).as_py()

    def evaluate(self) -> object:
        return self.total


def total(**methods: Any) -> type:
    return type("my_total", (Total,), methods)


def test_a_function_sees_nulls_and_empty_input(session):
    @udf(args=[Text, BigInt], returns=Text)
    def repeated(texts, times):
        return pc.binary_repeat(texts, times)

    rows = "VALUES ('ab', 2L), (NULL, 1L), ('x', NULL), ('', 3L) AS t(a, n)"
    assert session.rows(f"SELECT repeated(a, n) FROM {rows}") == [
        ("abab",),
        (None,),
        (None,),
        ("",),
    ]
    assert session.rows(f"SELECT REPEATED(a, n) FROM {rows} WHERE n > 9") == []
    frame = session.spark.sql(f"SELECT * FROM {rows}").selectExpr("repeated(a, n) AS r")
    assert frame.schema["r"].dataType.simpleString() == "string"
    assert frame.count() == 4


VALUES: dict[DataType, tuple[str, object]] = {
    SmallInt(): ("CAST(-32768 AS SMALLINT)", -32768),
    Integer(): ("2147483647", 2147483647),
    BigInt(): ("9223372036854775807L", 9223372036854775807),
    Float(): ("CAST(0.1 AS FLOAT)", 0.10000000149011612),
    Double(): ("CAST(0.1 AS DOUBLE)", 0.1),
    Boolean(): ("true", True),
    Text(): ("'ü\U0001f600'", "ü\U0001f600"),
    Numeric(38, 10): (
        "CAST('9999999999999999999999999999.9999999999' AS DECIMAL(38, 10))",
        Decimal("9999999999999999999999999999.9999999999"),
    ),
    Date(): ("DATE'0001-01-01'", date(1, 1, 1)),
    Timestamp(): (
        "TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'",
        datetime(1969, 12, 31, 23, 59, 59, 999999),
    ),
    TimestampTZ(): (
        "TIMESTAMP'2026-03-29 02:30:00.000001 UTC'",
        datetime(2026, 3, 29, 2, 30, 0, 1, tzinfo=UTC),
    ),
    Bytes(): ("X'00ff'", b"\x00\xff"),
    Array(Text()): ("array('a', NULL)", ["a", None]),
    Array(Array(Integer())): ("array(array(1, 2), NULL, array())", [[1, 2], None, []]),
    Struct(("a", Integer()), ("b", Array(Text()))): (
        "named_struct('a', 1, 'b', array('x'))",
        {"a": 1, "b": ["x"]},
    ),
}


class First:
    """The first value, whatever its type."""

    def __init__(self) -> None:
        self.values: list[object] = []

    def update_batch(self, values: pa.Array) -> None:
        self.values += values[:1]

    def state(self) -> list[object]:
        return self.values[:1]

    def merge_batch(self, states: list[pa.Array]) -> None:
        self.values += states[0]

    def evaluate(self) -> object:
        return self.values[0]


def same(names):
    return names


@pytest.mark.proves("udfs")
def test_every_type_goes_in_and_out_unchanged(session):
    given, absent, rows, groups = [], [], [], []
    for number, (kind, (literal, _)) in enumerate(VALUES.items()):
        udf(args=[kind], returns=kind, name=f"same_{number}")(same)
        aggregate = type("Aggregate", (First,), {})
        udaf(args=[kind], state=[kind], returns=kind, name=f"first_{number}")(aggregate)
        given.append(f"{literal} AS c{number}")
        absent.append(f"nullif({literal}, {literal})")
        rows.append(f"same_{number}(c{number}) AS c{number}")
        groups.append(f"first_{number}(c{number}) AS c{number}")
    register_udfs(session.spark, session.project.udfs.values())
    both = f"(SELECT 1 AS g, {', '.join(given)} UNION ALL SELECT 2, {', '.join(absent)})"
    wanted = session.spark.sql(f"SELECT * FROM {both}").schema.simpleString()
    values = [
        {"g": 1} | {f"c{number}": value for number, (_, value) in enumerate(VALUES.values())},
        {"g": 2} | {f"c{number}": None for number in range(len(VALUES))},
    ]
    for query in (
        f"SELECT g, {', '.join(rows)} FROM {both}",
        f"SELECT g, {', '.join(groups)} FROM {both} GROUP BY g",
    ):
        frame = session.spark.sql(query)
        assert frame.schema.simpleString() == wanted
        assert sorted(frame.toArrow().to_pylist(), key=lambda row: row["g"]) == values


def test_lossless_arguments_are_widened_others_refused(session):
    @udf(args=[BigInt, Double, Numeric[10, 2], Text], returns=Text)
    def listed(a, b, c, d):
        return pa.array([f"{x} {y} {z} {t}" for x, y, z, t in zip(a, b, c, d, strict=True)])

    assert session.rows("SELECT listed(1, 2, 1.5, NULL)") == [("1 2.0 1.50 None",)]
    found = session.failure("SELECT listed(1, 2, 123.456, 'x')")
    assert found.what == (
        "UDF listed declares its argument 3 as decimal128(10, 2), the query passes decimal128(6, 3)"
    )
    assert "CAST" in (found.hint or "")
    assert (
        "argument 1 as int64, the query passes string"
        in session.failure("SELECT listed('1', 2, 1.5, 'x')").what
    )
    assert (
        "argument 4 as string, the query passes date32[day]"
        in session.failure("SELECT listed(1, 2, 1.5, DATE'2026-01-01')").what
    )


def returning(result: object) -> Any:
    def answer(_values):
        return result

    return answer


RESULTS = {
    "another type": (pa.array([1], pa.int32()), "returned int32, it declares int64"),
    "text": (pa.array(["1"]), "returned string, it declares int64"),
    "too few": (pa.array([], pa.int64()), "returned 0 values for 1 rows"),
    "too many": (pa.array([1, 2]), "returned 2 values for 1 rows"),
    "a list": ([1], "returned list instead of a pyarrow Array"),
    "nothing": (None, "returned NoneType instead of a pyarrow Array"),
    "one value": (pa.scalar(1), "returned Int64Scalar instead of a pyarrow Array"),
}


@given(
    st.tuples(st.integers(1, 38), st.integers(0, 38)).filter(lambda each: each[0] >= each[1]),
    st.tuples(st.integers(1, 38), st.integers(0, 38)).filter(lambda each: each[0] >= each[1]),
    st.booleans(),
)
def test_a_decimal_is_widened_only_where_its_largest_value_fits(found, wanted, negative):
    largest = Decimal((int(negative), (9,) * found[0], -found[1]))
    value = pa.array([largest], pa.decimal128(*found))
    try:
        back = value.cast(pa.decimal128(*wanted)).cast(value.type)
        fits = back == value
    except pa.ArrowInvalid:
        fits = False
    assert widens(value.type, pa.decimal128(*wanted)) == fits


@pytest.mark.proves("mistakes-told")
@pytest.mark.parametrize("case", RESULTS)
def test_a_wrong_result_is_an_error_at_the_declaration(session, case):
    result, said = RESULTS[case]
    udf(args=[BigInt], returns=BigInt, name="answer")(returning(result))  # declared here
    found = session.failure("SELECT answer(id) FROM range(0, 1, 1, 1)")
    assert found.what == f"UDF answer {said}"
    assert found.where == f"{HERE}:{line_of('# declared here')}"
    assert found.hint


def test_chunks_are_one_column(session):
    chunks = pa.chunked_array([[1], [2]])
    udf(args=[BigInt], returns=BigInt, name="answer")(returning(chunks))
    assert session.rows("SELECT answer(id) FROM range(0, 2, 1, 1)") == [(1,), (2,)]


def test_an_exception_names_the_function_and_the_line(session):
    @udf(args=[Text], returns=Text)
    def breaks(names):
        return inner(names)

    def inner(names):
        raise ValueError(f"cannot do {names[0]}")  # the line to blame

    found = session.failure("SELECT breaks('a\"\nü')")
    assert found.what == 'UDF breaks raised ValueError: cannot do a"\nü'
    assert found.where == f"{HERE}:{line_of('# the line to blame')}"
    assert found.details is not None
    assert found.details.splitlines()[0].endswith("in breaks")
    assert "ematix_flow" not in found.details
    assert "org.apache" not in str(found)


def test_the_number_of_arguments_is_checked(session):
    udf(args=[BigInt], returns=BigInt, name="one_only")(same)
    found = session.failure("SELECT one_only(id, id) FROM range(3)")
    assert found.what == "UDF one_only takes 1 argument(s), the query passes 2"
    found = session.failure("SELECT one_only(names => id) FROM range(3)")
    assert found.what == "UDF one_only takes its arguments by position"


@pytest.mark.proves("udfs")
def test_an_aggregate_per_group(session):
    udaf(args=[BigInt], state={"total": BigInt}, returns=BigInt)(total())
    rows = "VALUES ('a', 1L), ('a', NULL), ('b', NULL), ('c', 4L), ('a', 5L) AS t(k, v)"
    assert session.rows(f"SELECT k, my_total(v) FROM {rows} GROUP BY k ORDER BY k") == [
        ("a", 6),
        ("b", None),
        ("c", 4),
    ]
    assert session.rows(f"SELECT my_total(v) FROM {rows}") == [(10,)]
    assert session.rows(f"SELECT my_total(v) + 1 FROM {rows} HAVING my_total(v) > 3") == [(11,)]
    assert session.rows(f"SELECT k, my_total(v) FROM {rows} WHERE v > 9 GROUP BY k") == []
    running = "my_total(v) OVER (ORDER BY v ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
    assert session.rows(f"SELECT v, {running} FROM {rows} WHERE v > 0 ORDER BY v") == [
        (1, 1),
        (4, 5),
        (5, 9),
    ]


def test_a_large_group_is_merged_from_parts(session):
    class CountsParts(Total):
        def state(self):
            return [1]

    udaf(args=[BigInt], state=[BigInt], returns=BigInt, name="all_of_it")(total())
    udaf(args=[BigInt], state=[BigInt], returns=BigInt, name="parts")(CountsParts)
    rows = 2 * udf_call.ROWS_IN_A_PART + 1
    assert session.rows(f"SELECT all_of_it(id), parts(id) FROM range({rows})") == [
        (rows * (rows - 1) // 2, 3)
    ]


@given(
    values=st.lists(st.none() | st.integers(-(2**40), 2**40), max_size=40), part=st.integers(1, 50)
)
def test_any_split_gives_the_same(values, part):
    signature = udf_call.Signature(
        name="my_total", args=(pa.int64(),), returns=pa.int64(), file=HERE, line=1
    )
    call = udf_call.aggregate_call(signature, [("total", pa.int64())], Total)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(udf_call, "ROWS_IN_A_PART", part)
        found = call(pa.array(values, pa.int64()))
    present = [value for value in values if value is not None]
    expected = sum(present) if present else None
    assert (found.as_py() if isinstance(found, pa.Scalar) else found) == expected


AGGREGATES = {
    "another type": (
        {"evaluate": lambda _: 1.5},
        "declares int64, evaluate() returned the float",
    ),
    "a changed value": ({"evaluate": lambda _: True}, "evaluate() returned the bool True"),
    "a typed value": (
        {"evaluate": lambda _: pa.scalar(1, pa.int32())},
        "declares int64, evaluate() returned a int32 Scalar",
    ),
    "its state": (
        {"state": lambda _: ["x"]},
        "declares total of its state as int64, state() returned the str 'x'",
    ),
    "too much state": (
        {"state": lambda _: [1, 2]},
        "has 1 value(s) in its state, state() returned 2",
    ),
    "no state": (
        {"state": lambda _: None},
        "has 1 value(s) in its state, state() returned NoneType",
    ),
}


@pytest.mark.parametrize("case", AGGREGATES)
def test_a_wrong_aggregate_is_an_error_at_the_declaration(session, case):
    methods, said = AGGREGATES[case]
    cls = total(**methods)
    udaf(args=[BigInt], state={"total": BigInt}, returns=BigInt)(cls)  # the aggregate
    found = session.failure("SELECT my_total(id) FROM range(1)")
    assert said in found.what
    assert found.where == f"{HERE}:{line_of('# the aggregate')}"


@pytest.mark.parametrize("method", ["__init__", "update_batch", "state", "merge_batch", "evaluate"])
def test_an_exception_in_an_aggregate_names_the_method(session, method):
    def breaks(*_):
        raise KeyError("gone")  # in the method

    udaf(args=[BigInt], state=[BigInt], returns=BigInt)(total(**{method: breaks}))
    found = session.failure("SELECT my_total(id) FROM range(1)")
    called = "" if method == "__init__" else f".{method}"
    assert found.what == f"UDF my_total{called} raised KeyError: 'gone'"
    assert found.where == f"{HERE}:{line_of('# in the method')}"


def test_a_pandas_udf_passes_through(session):
    import pandas as pd
    from pyspark.sql.functions import pandas_udf
    from pyspark.sql.types import LongType, StringType

    def whisper(names):
        return names.str.lower()

    def longest(names):
        return int(names.str.len().max())

    whisper.__annotations__ = {"names": pd.Series, "return": pd.Series}
    longest.__annotations__ = {"names": pd.Series, "return": int}
    udf(pandas_udf(whisper, StringType()))
    udf(name="longest_one")(pandas_udf(longest, LongType()))
    assert session.rows("SELECT whisper('LOUD')") == [("loud",)]
    assert session.rows("SELECT longest_one(a) FROM VALUES ('a'), ('bcd') AS t(a)") == [(3,)]


def test_the_list_of_sparks_functions_is_complete(spark):
    listed = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    assert {name for name in listed if name.isidentifier()} == functions("spark")
    assert set(SPARK_OVER_ROWS) < functions("spark")


@pytest.mark.proves("udfs")
@pytest.mark.every_engine
@pytest.mark.skipif(find_spec("pysail") is None, reason="pysail is not installed")
def test_a_project_uses_them_on_sail(tmp_path):
    folder = project_folder(tmp_path / "project")
    engine = "ENGINE, OPTIONS = 'sail', {'sizing': size(SMALL, 1000, engine='sail')}"
    assert_used(play(f"{engine}\n{USE}", tmp_path / "state", cwd=folder).seen)


@pytest.mark.proves("udfs")
def test_a_worker_needs_neither_the_project_nor_this_package(tmp_path):
    folder = project_folder(tmp_path / "project")
    code = f"""{LOAD}
from pyspark import cloudpickle
from ematix_flow.transform.by_value import pickled_by_value
before = set(cloudpickle.list_registry_pickle_by_value())
from ematix_flow.transform.udf_call import row_call, aggregate_call
from ematix_flow.transform.udf import _signature
import pyarrow as pa
spec = project.udfs["exclaim"]
with pickled_by_value(spec.function):
    Path("call.pickle").write_bytes(cloudpickle.dumps(row_call(_signature(spec), spec.function)))
spec = project.udfs["counted"]
with pickled_by_value(spec.cls):
    call = aggregate_call(_signature(spec), (("n", pa.int64()),), spec.cls)
    Path("group.pickle").write_bytes(cloudpickle.dumps(call))
seen["left"] = sorted(set(cloudpickle.list_registry_pickle_by_value()) - before)
"""
    assert play(code, tmp_path / "state", cwd=folder).seen["left"] == []
    worker = """
import pickle, sys
sys.modules.update(dict.fromkeys(("ematix_flow", "pipelines", "rules")))  # not to be imported
import pyarrow as pa
call, group = (pickle.load(open(name, "rb")) for name in ("call.pickle", "group.pickle"))
print(call(pa.array(["x", None])).to_pylist(), group(pa.array([1, 2])))
"""
    done = subprocess.run(
        [sys.executable, "-c", worker], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['x!', None] 2"
