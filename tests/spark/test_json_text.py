"""Arrays and structs on their way to a database without them."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from ematix_flow._base.location import Location
from ematix_flow.backends.impl.sqlite.write import SqliteTarget
from ematix_flow.spec.contract import RULE_COLUMN, Contract
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import (
    Array,
    BigInt,
    Boolean,
    Bytes,
    Date,
    Double,
    Float,
    Numeric,
    String,
    Struct,
    Text,
    Timestamp,
    TimestampTZ,
)
from ematix_flow.sqltext.ddl import create_table
from ematix_flow.sqltext.program import STAGING
from ematix_flow.sqltext.type_names import json_columns, type_name
from ematix_flow.validate.contract import judge
from ematix_flow.write.staging import require_clean, stage

EVERYTHING = Struct(
    ("whole", BigInt),
    ("money", Numeric(38, 10)),
    ("single", Float),
    ("real", Double),
    ("flag", Boolean),
    ("Odd `name", Text),
    ("day", Date),
    ("wall", Timestamp),
    ("instant", TimestampTZ),
    ("raw", Bytes),
    ("many", Array(Struct(("price", Numeric(10, 7)), ("none", Text)))),
)


def as_json(spark, kind, *values):
    table = Table(
        name=TableName(name="t"),
        location=Location("x.py", 1),
        columns=(
            Column(name="n", type=BigInt(), primary_key=True),
            Column(name="v", type=kind, nullable=True),
        ),
    )
    rows = list(enumerate(values))
    frame = spark.createDataFrame(rows, f"n BIGINT, v {type_name(kind, 'spark')}")
    judged = judge(frame, Contract.of(table), as_json=["v"]).orderBy("n")
    assert judged.schema["v"].dataType.simpleString() == "string"
    found = judged.collect()
    assert all(row[RULE_COLUMN] is None for row in found)
    return [row["v"] for row in found]


@pytest.mark.proves("types-survive")
def test_no_value_changes_inside_of_a_struct(spark):
    [text] = as_json(
        spark,
        EVERYTHING,
        (
            *(2**63 - 1, Decimal("1234567890123456789012345678.0000000001"), 0.1, 1e-300, True),
            *('ä "quoted"\n', date(1, 1, 1), datetime(1899, 1, 2, 3, 4, 5, 678901)),
            *(datetime(2026, 3, 29, 1, 30, 0, 1, tzinfo=UTC), b"\x00\xff"),
            [(Decimal("0.0000001"), None), (None, "x"), None],
        ),
    )
    assert json.loads(text) == {
        "whole": 2**63 - 1,
        "money": "1234567890123456789012345678.0000000001",
        "single": 0.1,
        "real": 1e-300,
        "flag": True,
        "Odd `name": 'ä "quoted"\n',
        "day": "0001-01-01",
        "wall": "1899-01-02T03:04:05.678901",
        "instant": "2026-03-29T01:30:00.000001Z",
        "raw": "AP8=",
        "many": [{"price": "0.0000001", "none": None}, {"price": None, "none": "x"}, None],
    }


def test_null_a_struct_of_nulls_and_an_empty_array_are_three_things(spark):
    struct = Struct(("money", Numeric(10, 2)), ("b", Text))
    assert as_json(spark, struct, None, (None, None)) == [None, '{"money":null,"b":null}']
    assert as_json(spark, Array(Numeric(4, 1)), None, [], [None]) == [None, "[]", "[null]"]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (Array(Text()), ["a", None, ""], ["a", None, ""]),
        (Array(Array(BigInt())), [[1], [], None], [[1], [], None]),
        (Array(Double()), [float("nan"), float("-inf")], ["NaN", "-Infinity"]),
        (Array(Numeric(38, 0)), [Decimal(10**38 - 1)], [str(10**38 - 1)]),
        (Array(String(3)), ["äöü"], ["äöü"]),
    ],
)
def test_arrays(spark, kind, value, expected):
    [text] = as_json(spark, kind, value)
    assert json.loads(text) == expected


@pytest.mark.proves("types-survive")
def test_sqlite_takes_arrays_and_structs(spark, tmp_path):
    table = Table(
        name=TableName(name="t"),
        location=Location("x.py", 1),
        columns=(
            Column(name="id", type=BigInt(), primary_key=True),
            Column(name="words", type=Array(Text()), nullable=True),
            Column(name="box", type=Struct(("w", Numeric(5, 2)), ("on", Date)), nullable=True),
        ),
    )
    contract = Contract.of(table)
    frame = spark.sql(
        "SELECT 1L AS id, array('a', NULL) AS words, "
        "named_struct('w', CAST(1.5 AS DECIMAL(5,2)), 'on', DATE'2026-03-01') AS box "
        "UNION ALL SELECT 2L, NULL, NULL"
    )
    judged = judge(frame, contract, as_json=json_columns(table, "sqlite"))
    staged = stage(judged, tmp_path / "staging", contract, counted=True)
    require_clean(staged, contract)
    target = SqliteTarget(tmp_path / "out.db")
    with target.open() as session:
        session.execute(create_table(table, table.name, "sqlite"))
        session.show_staging(staged, table, STAGING)
        with session.transaction():
            session.execute(f'INSERT INTO t SELECT * FROM "{STAGING}"')
    with closing(sqlite3.connect(tmp_path / "out.db")) as database:
        rows = database.execute("SELECT * FROM t ORDER BY id").fetchall()
        [[found]] = database.execute("SELECT box ->> '$.w' FROM t WHERE id = 1").fetchall()
    assert rows == [(1, '["a",null]', '{"w":"1.50","on":"2026-03-01"}'), (2, None, None)]
    assert found == "1.50"
