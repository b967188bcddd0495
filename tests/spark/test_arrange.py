"""Rows get the target's names, their place in the order, and keep nothing of columns beside it."""

import itertools
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ematix_flow._base.location import Location
from ematix_flow.errors import ContractError, UnknownName
from ematix_flow.plan.steps import Arrange
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN, Contract
from ematix_flow.spec.cursor import Cursor, CursorKind
from ematix_flow.spec.layout import Layout
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.pipeline import HistoryColumns
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import BigInt, Boolean, Double, Text, Timestamp, TimestampTZ
from ematix_flow.transform.arrange import arrange
from ematix_flow.validate.contract import judge

HERE = Location("pipelines.py", 1)
GIVEN = (
    Column(name="id", type=BigInt(), primary_key=True),
    Column(name="city", type=Text()),
    Column(name="at", type=Timestamp(), nullable=True),
)
HISTORY = (
    Column(name="valid_from", type=TimestampTZ(), nullable=True),
    Column(name="valid_to", type=TimestampTZ(), nullable=True),
    Column(name="is_current", type=Boolean(), nullable=True),
)


def table_of(*columns):
    return Table(name=TableName(name="places"), columns=columns, location=HERE)


def layout_of(*columns, mode=Mode.MERGE, **options):
    given_columns = columns or GIVEN
    kept = HISTORY if mode is Mode.SCD2 else ()
    history = HistoryColumns() if mode is Mode.SCD2 else None
    return Layout(
        table=table_of(*given_columns, *kept),
        mode=mode,
        given=tuple(column.name for column in given_columns),
        keys=("id",),
        history=history,
        **options,
    )


def arranged(frame, layout, **options):
    """Arrange and judge; return the rows as dictionaries and the contract."""
    given_columns = table_of(*(each for each in layout.table.columns if each.name in layout.given))
    contract = Contract.of(given_columns, layout=layout, cursor=options.get("cursor"))
    step = Arrange(layout=layout, location=HERE, **options)
    return [row.asDict() for row in judge(arrange(frame, step), contract).collect()], contract


def problem(row, contract):
    number = row[RULE_COLUMN]
    return None if number is None else contract.rule(number).describe(row[VALUE_COLUMN])


@pytest.mark.proves("column-map")
def test_columns_get_the_targets_names(spark):
    frame = spark.sql("SELECT 1L AS Nr, 'Bonn' AS town, TIMESTAMP_NTZ'2026-03-01' AS at")
    rows, _ = arranged(frame, layout_of(), column_map=(("nr", "id"), ("TOWN", "city")))
    assert (rows[0]["id"], rows[0]["city"], rows[0][RULE_COLUMN]) == (1, "Bonn", None)


def test_a_name_that_the_query_does_not_return_is_told_with_the_nearest(spark):
    frame = spark.sql("SELECT 1L AS nr, 'Bonn' AS city, NULL AS at")
    with pytest.raises(UnknownName, match="column in column_map: 'nrr'; did you mean 'nr'"):
        arranged(frame, layout_of(), column_map=(("nrr", "id"),))


def test_what_only_orders_or_deletes_does_not_reach_the_target(spark):
    frame = spark.sql(
        "SELECT * FROM VALUES (1L, 'Bonn', NULL, 7, 'u'), (2L, NULL, NULL, 8, 'd'), "
        "(3L, 'Ulm', NULL, 9, NULL) AS t(id, city, at, lsn, op)"
    )
    layout = layout_of(order=("lsn",), has_deletion_flag=True)
    rows, contract = arranged(frame, layout, deletes="op = 'd'")
    assert set(rows[0]) == {
        *("id", "city", "at", "_flow_deleted", "_flow_seq", RULE_COLUMN, VALUE_COLUMN)
    }
    assert [row["_flow_deleted"] for row in rows] == [False, True, False]
    assert rows[0]["_flow_seq"] == "10000000000000000007"
    # The deletion has no city, and needs none.
    assert [problem(row, contract) for row in rows] == [None, None, None]


def test_a_number_that_comes_as_text_orders_nothing(spark):
    layout = layout_of(GIVEN[0], order=("seq",))
    frame = spark.createDataFrame([(1, "9"), (1, "10")], "id bigint, seq string")
    arranged(frame, layout)  # text of a database is text
    with pytest.raises(ContractError, match=r"seq is what orders rows, .* 10 comes before 9"):
        arranged(frame, layout, untyped=True)
    arranged(frame.selectExpr("id", "CAST(seq AS BIGINT) AS seq"), layout, untyped=True)


def test_a_deletion_still_needs_its_key_and_its_place(spark):
    frame = spark.sql(
        "SELECT * FROM VALUES (NULL, NULL, NULL, 7, 'd'), (2L, NULL, NULL, NULL, 'd'), "
        "(3L, NULL, NULL, 1, 'u') AS t(id, city, at, lsn, op)"
    )
    rows, contract = arranged(
        frame, layout_of(order=("lsn",), has_deletion_flag=True), deletes="op = 'd'"
    )
    assert [problem(row, contract) for row in rows] == [
        "id is NULL, but declared NOT NULL",
        "lsn is NULL, so the row has no place in the order",
        "city is NULL, but declared NOT NULL",
    ]


def test_the_order_is_that_of_the_values_which_are_stored(spark):
    # As text, the second would come first; `at` is declared as a timestamp.
    frame = spark.sql(
        "SELECT * FROM VALUES (1L, 'Bonn', '2026-03-01T09:00', 2), "
        "(2L, 'Ulm', ' 2026-03-01 10:00', 1) AS t(id, city, at, n)"
    )
    rows, _ = arranged(frame, layout_of(order=("at", "n")))
    assert [row["_flow_seq"] for row in rows] == [
        "2026-03-01 09:00:00.000000.10000000000000000002",
        "2026-03-01 10:00:00.000000.10000000000000000001",
    ]


def test_a_version_begins_at_its_first_order_column(spark):
    frame = spark.sql(
        "SELECT * FROM VALUES (1L, 'Bonn', TIMESTAMP_NTZ'2026-03-01 09:00:00', '2026-03-01'), "
        "(2L, 'Ulm', TIMESTAMP_NTZ'2026-03-01 10:00:00', 'yesterday') AS t(id, city, at, happened)"
    )
    rows, contract = arranged(frame, layout_of(mode=Mode.SCD2, order=("happened", "at")))
    assert rows[0]["_flow_at"].astimezone(UTC) == datetime(2026, 3, 1, tzinfo=UTC)
    assert problem(rows[0], contract) is None
    assert problem(rows[1], contract) == (
        "happened: 'yesterday' is no TimestampTZ, so no version can begin there"
    )


def test_a_number_begins_no_version(spark):
    frame = spark.sql("SELECT 1L AS id, 'Bonn' AS city, NULL AS at, 3 AS n")
    with pytest.raises(ContractError, match="a version begins at its n, and that is int"):
        arranged(frame, layout_of(mode=Mode.SCD2, order=("n",)))


def test_what_flow_keeps_is_not_taken_from_the_query(spark):
    frame = spark.sql("SELECT 1L AS id, 'Bonn' AS city, NULL AS at, true AS Is_Current")
    with pytest.raises(ContractError, match="Is_Current, which flow itself keeps") as refused:
        arranged(frame, layout_of(mode=Mode.SCD2))
    assert "leave Is_Current out of the SELECT" in refused.value.hint


def test_the_cursor_is_the_querys_own_value_and_never_null(spark):
    frame = spark.sql(
        "SELECT * FROM VALUES (1L, 'Bonn', NULL, 5), (2L, 'Ulm', NULL, NULL) AS t(id, city, at, n)"
    )
    rows, contract = arranged(frame, layout_of(has_cursor=True), cursor="n")
    assert Cursor.read(rows[0]["_flow_cursor"]) == Cursor(CursorKind.INTEGER, "5")
    assert problem(rows[1], contract) == "n is NULL, so no incremental load would ever read the row"


@pytest.mark.proves("values-refused")
@pytest.mark.parametrize(
    ("dialect", "kind", "value", "told"),
    [
        ("postgres", Text(), "a\0b", "holds a NUL character"),
        ("mysql", Double(), float("inf"), "Infinity is an infinite number"),
        ("mariadb", Double(), float("nan"), "NaN is NaN"),
        ("sqlite", Double(), float("nan"), "NaN is NaN"),
        ("sqlite", Double(), float("inf"), None),
        ("duckdb", Double(), float("nan"), None),
    ],
)
def test_what_a_database_cannot_store_is_a_broken_row(spark, dialect, kind, value, told):
    declared = table_of(
        Column(name="id", type=BigInt(), primary_key=True), Column(name="v", type=kind)
    )
    contract = Contract.of(declared, dialect)
    frame = spark.createDataFrame(
        [(1, value)], f"id BIGINT, v {'STRING' if kind == Text() else 'DOUBLE'}"
    )
    [row] = judge(frame, contract).collect()
    found = problem(row.asDict(), contract)
    assert found is None if told is None else told.lower() in found.lower()


# One Spark job per example, so many values per example, few examples, and no shrinking.
few = settings(
    max_examples=2,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
KINDS = {
    "BIGINT": (st.integers(-(2**63), 2**63 - 1), CursorKind.INTEGER),
    "DATE": (st.dates(), CursorKind.DATE),
    "TIMESTAMP_NTZ": (st.datetimes(), CursorKind.TIMESTAMP),
    "TIMESTAMP": (
        st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),
        CursorKind.TIMESTAMPTZ,
    ),
    "STRING": (st.text(st.characters(codec="utf-8")), CursorKind.TEXT),
    "DECIMAL(20,7)": (
        st.decimals(-(10**12), 10**12, places=7).map(lambda each: each + 0),
        CursorKind.DECIMAL,
    ),
    "DOUBLE": (st.floats(allow_nan=False, allow_infinity=False), CursorKind.DOUBLE),
}


@pytest.mark.parametrize("sql_type", KINDS)
def test_the_text_of_a_value_sorts_like_it_and_comes_back(spark, sql_type):
    strategy, kind = KINDS[sql_type]

    @few
    @given(st.lists(strategy, min_size=100, max_size=200))
    def check(values):
        frame = spark.createDataFrame(
            [(number, value) for number, value in enumerate(values)], f"id BIGINT, v {sql_type}"
        )
        layout = layout_of(GIVEN[0], has_cursor=True, order=("v",))
        rows, _ = arranged(frame, layout, cursor="v")
        texts = {row["id"]: (row["_flow_seq"], row["_flow_cursor"]) for row in rows}
        ranked = sorted((_rank(value), texts[number]) for number, value in enumerate(values))
        for (one, first), (other, second) in itertools.pairwise(ranked):
            assert (first[0] < second[0]) == (one < other)
            assert (first[1] < second[1]) == (one < other)
        for number, value in enumerate(values):
            cursor = Cursor.read(texts[number][1])
            assert cursor.kind is kind
            assert _same(cursor.value, value), (cursor, value)

    check()


def test_decimals_sort_with_those_of_another_type(spark):
    layout = layout_of(GIVEN[0], order=("v",))
    values = ["-12.5", "-12.49", "-12", "-0.5", "0", "0.05", "1.5", "12", "12.25"]
    found = []
    for sql_type in ("DECIMAL(4,2)", "DECIMAL(38,10)", "DECIMAL(20,3)"):
        query = f"SELECT 1L AS id, CAST(v AS {sql_type}) AS v FROM VALUES "
        frame = spark.sql(query + ", ".join(f"('{value}')" for value in values) + " AS t(v)")
        rows, _ = arranged(frame, layout)
        found += [
            (Decimal(value), row["_flow_seq"]) for value, row in zip(values, rows, strict=True)
        ]
    for one, first in found:
        for other, second in found:
            assert one == other or (first < second) == (one < other)


def _rank(value):
    return value.encode() if isinstance(value, str) else value


def _same(text, value):
    match value:
        case int() | float() | Decimal():
            return type(value)(text) == value
        case datetime():
            shown = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
            return text == shown.isoformat(sep=" ", timespec="microseconds")
        case date():
            return text == value.isoformat()
        case _:
            return text == value


def test_a_deletion_is_staged_without_what_the_target_cannot_store(spark):
    columns = (GIVEN[0], Column(name="note", type=Text()), Column(name="v", type=Double()))
    layout = layout_of(*columns, has_deletion_flag=True)
    contract = Contract.of(table_of(*columns), "postgres", layout)
    frame = spark.createDataFrame(
        [(1, "a\0", 1.0, "d"), (2, "a\0", 1.0, "u")], "id BIGINT, note STRING, v DOUBLE, op STRING"
    )
    step = Arrange(layout=layout, location=HERE, deletes="op = 'd'")
    deleted, kept = judge(arrange(frame, step), contract).orderBy("id").collect()
    assert (deleted["note"], deleted["v"], deleted[RULE_COLUMN]) == (None, 1.0, None)
    assert "holds a NUL character" in problem(kept.asDict(), contract)
