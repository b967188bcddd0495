"""What a load within one database says in SQL, without Spark: values and conditions."""

import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ematix_flow._base.location import Location
from ematix_flow.backends.impl.sqlite.functions import add_functions
from ematix_flow.backends.impl.sqlite.types import canonical_text, to_sqlite
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import (
    BigInt,
    Boolean,
    DataType,
    Date,
    Double,
    Integer,
    Numeric,
    SmallInt,
    Text,
    Timestamp,
    TimestampTZ,
)
from ematix_flow.sqltext.in_database.condition import Known, proven_condition
from ematix_flow.sqltext.in_database.unproven import Unproven
from ematix_flow.sqltext.in_database.value import WideInteger, converted

MOMENTS = st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31, 23, 59, 59))
MONEY = Numeric(12, 2)


def stored(value: object, arrow: pa.DataType, kind: DataType) -> object:
    """What the path through Spark stores in SQLite."""
    table = Table(
        name=TableName(name="t"),
        columns=(Column(name="v", type=kind),),
        location=Location("x.py", 1),
    )
    [(found,)] = to_sqlite(pa.record_batch([pa.array([value], arrow)], names=["v"]), table)
    return found


@pytest.mark.proves("paths-agree")
@settings(deadline=None)
@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2))
def test_a_decimal_of_sqlite_is_the_same_text_on_both_paths(value):
    for written in {str(value), f"{value:f}", f"{value.normalize():E}"}:
        expected = stored(value, pa.decimal128(12, 2), MONEY)
        assert canonical_text(written, "numeric", 12, 2) == expected


@pytest.mark.proves("paths-agree")
@settings(deadline=None)
@given(MOMENTS)
def test_a_time_of_sqlite_is_the_same_text_on_both_paths(value):
    wall = stored(value, pa.timestamp("us"), Timestamp())
    assert canonical_text(value.isoformat(), "timestamp") == wall
    assert canonical_text(value.isoformat(" "), "timestamp") == wall
    instant = stored(value.replace(tzinfo=UTC), pa.timestamp("us", "UTC"), TimestampTZ())
    assert canonical_text(f"{value.isoformat()}Z", "timestamptz") == instant
    assert canonical_text(value.isoformat(), "timestamptz") == instant
    day = stored(value.date(), pa.date32(), Date())
    assert canonical_text(value.date().isoformat(), "date") == day


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("1.234", "numeric"),
        ("10000000000", "numeric"),
        ("NaN", "numeric"),
        ("abc", "numeric"),
        (b"1", "numeric"),
        ("2026-01-01T00:00:00Z", "timestamp"),
        ("2026-01-01 00:00:00.0000001", "timestamp"),
        ("yesterday", "date"),
        (20260101, "date"),
        (None, "date"),
    ],
)
def test_what_is_no_such_value_is_null(value, kind):
    assert canonical_text(value, kind, 12, 2) is None


def value_and_fault(raw: str, given: DataType, kind: DataType, dialect: str) -> tuple:
    found = converted(raw, given, kind, "v", dialect)
    sql = f"SELECT {found.value}, {found.breaks or 'FALSE'}"
    if dialect == "duckdb":
        return duckdb.sql(sql).fetchall()[0]
    with closing(sqlite3.connect(":memory:")) as database:
        add_functions(database)
        return database.execute(sql).fetchone()


@settings(deadline=None)
@given(st.integers(min_value=-(2**100), max_value=2**100))
def test_a_wide_number_fits_or_is_told(value):
    for kind, bits in ((SmallInt(), 16), (Integer(), 32), (BigInt(), 64)):
        fits = -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)
        raw = f"CAST('{value}' AS HUGEINT)"
        found = value_and_fault(raw, WideInteger(), kind, "duckdb")
        assert found == ((value, False) if fits else (None, True))


@settings(deadline=None)
@given(st.decimals(min_value=-(10**14), max_value=10**14, places=2))
def test_a_wide_decimal_fits_or_is_told(value):
    raw = f"CAST('{value}' AS DECIMAL(38,2))"
    found = value_and_fault(raw, Numeric(38, 2), MONEY, "duckdb")
    assert found == ((value, False) if abs(value) < 10**10 else (None, True))


@pytest.mark.parametrize(
    ("raw", "given", "kind", "fits"),
    [
        ("1", BigInt(), BigInt(), True),
        ("1.0", BigInt(), BigInt(), False),
        ("'1'", BigInt(), BigInt(), False),
        ("40000", BigInt(), SmallInt(), False),
        ("x'01'", Text(), Text(), False),
        ("'a'", Text(), Text(), True),
        ("1", Text(), Text(), False),
        ("2", Boolean(), Boolean(), False),
        ("1", Boolean(), Boolean(), True),
        ("9007199254740993", BigInt(), Double(), False),
        ("3", Double(), Double(), True),
        ("'2026-02-30'", Date(), Date(), False),
        ("'2026-02-28'", Date(), Timestamp(), True),
        ("NULL", BigInt(), BigInt(), True),
    ],
)
def test_sqlite_is_asked_what_each_value_is(raw, given, kind, fits):
    _, broken = value_and_fault(raw, given, kind, "sqlite")
    assert not broken if fits else broken


COLUMNS = {"n": BigInt(), "word": Text(), "flag": Boolean(), "ratio": Double(), "day": Date()}


def known(name: str) -> Known:
    return Known(f'"{name}"', COLUMNS[name])


def constant(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "NULL" if value is None else str(value).upper()
    return f"'{value}'" if isinstance(value, str) else str(value)


CONDITIONS = st.recursive(
    st.sampled_from(
        [
            *("n = 1", "n <> 0", "n < -1", "n IN (1, 2)", "n IS NULL", "flag", "flag = false"),
            *("word = 'a'", "word <> ''", "word IN ('a', 'A')", "word IS NOT NULL"),
        ]
    ),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(
            lambda parts: f"({' '.join(parts)})"
        )
        | inner.map(lambda each: f"NOT ({each})")
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(
    CONDITIONS,
    st.tuples(
        st.sampled_from([None, -2, 0, 1, 2]),
        st.sampled_from([None, "", "a", "A", "a "]),
        st.sampled_from([None, True, False]),
    ),
)
def test_a_condition_says_the_same_in_two_databases(condition, row):
    values = [constant(each) for each in row]
    columns = {name: known(name) for name in COLUMNS}
    answers = []
    for dialect in ("duckdb", "sqlite"):
        proven = proven_condition(condition, columns, dialect)
        types = ("BIGINT", "TEXT", "BOOLEAN")
        casts = ", ".join(
            f'CAST({value} AS {kind}) AS "{name}"'
            if dialect == "duckdb"
            else f'{value} AS "{name}"'
            for value, kind, name in zip(values, types, COLUMNS, strict=False)
        )
        sql = f"SELECT COALESCE({proven}, FALSE) FROM (SELECT {casts}) AS t"
        if dialect == "duckdb":
            answers.append(duckdb.sql(sql).fetchall()[0][0])
        else:
            with closing(sqlite3.connect(":memory:")) as database:
                answers.append(bool(database.execute(sql).fetchone()[0]))
    assert answers[0] == answers[1]


@pytest.mark.proves("paths-agree")
@pytest.mark.parametrize("condition", ["word = 'a'", "word IN ('a')", "NOT word <> 'a'"])
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_condition_tells_texts_apart_that_their_column_does_not(condition, dialect):
    proven = proven_condition(condition, {"word": known("word")}, dialect)
    connect = duckdb.connect if dialect == "duckdb" else sqlite3.connect
    with closing(connect(":memory:")) as database:
        database.execute("CREATE TABLE t (word VARCHAR COLLATE NOCASE)")
        database.execute("INSERT INTO t VALUES ('a'), ('A')")
        assert database.execute(f"SELECT word FROM t WHERE {proven}").fetchall() == [("a",)]


@pytest.mark.parametrize(
    "condition",
    [
        "n + 1 = 2",
        "n = '1'",
        "word = 1",
        "word < 'b'",
        "word LIKE 'a%'",
        "upper(word) = 'A'",
        "ratio = 1",
        "day = '2026-01-01'",
        "other = 1",
        "n",
        "n = n",
        "1 = n",
    ],
)
def test_a_condition_that_is_not_proven_is_sparks(condition):
    with pytest.raises(Unproven, match="only Spark is known to read the condition"):
        proven_condition(condition, {name: known(name) for name in COLUMNS}, "postgres")


def test_days_are_values():
    assert canonical_text(str(date(2026, 3, 1)), "date") == "2026-03-01"
    assert canonical_text(Decimal("-0.00"), "numeric", 12, 2) == "0.00"
