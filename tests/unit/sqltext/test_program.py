"""What every write program has in common, by its text."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import duckdb
import pytest

from ematix_flow._base.location import Location
from ematix_flow.errors import NotSupported
from ematix_flow.plan.layout import layout_of
from ematix_flow.spec.modes import HandleDeletes, Mode, OnDuplicateKeys
from ematix_flow.spec.pipeline import TargetSpec, WriteOptions
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import BigInt, Text
from ematix_flow.sqltext.program import Found, write_program
from ematix_flow.sqltext.program.grammar import Grammar

HERE = Location("x.py", 1)
TABLE = Table(
    name=TableName(name="t"),
    location=HERE,
    columns=(
        Column(name="a", type=BigInt(), primary_key=True),
        Column(name="x", type=Text(), nullable=True),
    ),
)
SNAPSHOT = {"handle_deletes": HandleDeletes.HARD}
WRITES = [
    WriteOptions(mode=Mode.MERGE, **SNAPSHOT),
    WriteOptions(mode=Mode.SCD1, sequence_by=("at",)),
    WriteOptions(mode=Mode.SCD2, **SNAPSHOT),
    WriteOptions(mode=Mode.SCD2, event_timestamp_column="at", **SNAPSHOT),
]


def program(write, dialect, *, cursor=False):
    target = TargetSpec(table=TABLE, connection="out", write=write, location=HERE)
    layout = layout_of(target, TABLE, None, has_cursor=cursor)
    return write_program(layout, TABLE.name, dialect, pipeline="p")


@pytest.mark.parametrize("dialect", ["delta", "iceberg", "spark", "snowflake", "Postgres"])
def test_a_dialect_that_nobody_wrote_a_program_in_is_refused(dialect):
    with pytest.raises(NotSupported, match=f"no write program is built for {dialect} ") as caught:
        Grammar(dialect)
    assert "(built: postgres, mysql, sqlite, duckdb, mariadb)" in str(caught.value)
    with pytest.raises(NotSupported):
        program(WRITES[0], dialect)


@pytest.mark.parametrize("write", WRITES)
def test_how_far_the_load_has_come_is_asked_where_there_is_a_cursor(write):
    assert program(write, "duckdb").highest is None
    found = program(write, "duckdb", cursor=True).highest
    assert found == 'SELECT MAX("_flow_cursor") FROM "_flow_staging"'
    # Rows that are set aside were read all the same: nobody reads them again.
    aside = replace(write, on_duplicate_keys=OnDuplicateKeys.QUARANTINE)
    found = program(aside, "postgres", cursor=True).highest
    assert found == 'SELECT MAX(("_flow_cursor") COLLATE "C") FROM "_flow_input"'


def test_what_is_found_is_counted_or_fetched_in_parts():
    found = Found(sql="SELECT a FROM t ORDER BY a")
    assert found.count == "SELECT count(*) FROM (SELECT a FROM t ORDER BY a) AS d"
    assert found.first(5) == "SELECT a FROM t ORDER BY a LIMIT 5"
    assert found.part(5, after=10) == "SELECT a FROM t ORDER BY a LIMIT 5 OFFSET 10"


@pytest.mark.parametrize("write", WRITES)
def test_postgres_looks_at_each_table_that_was_filled_before_it_joins_it(write):
    statements = [each.sql for each in program(write, "postgres").computes]
    filled = [sql.split()[2] for sql in statements if sql.startswith("INSERT INTO ")]
    assert filled
    for name in filled:
        [*_, last] = [
            n for n, sql in enumerate(statements) if sql.startswith(f"INSERT INTO {name}")
        ]
        assert statements[last + 1] == f"ANALYZE {name}"


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "mysql", "mariadb"])
def test_other_databases_need_no_such_look_inside_the_transaction(dialect):
    # In MySQL it would end the transaction.
    assert not any("ANALYZE" in each.sql for each in program(WRITES[-1], dialect).statements)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_table_may_have_more_columns_than_an_expression_may_be_deep(dialect):
    grammar, count = Grammar(dialect), 1200
    differ = [f"{number} = -1" for number in range(count)]
    same = [f"{number} <> -1" for number in range(count)]
    sql = f"SELECT {grammar.any_of(differ)}, {grammar.all_of(same)}"
    sql += f", {grammar.any_of([*differ, '1 = 1'])}, {grammar.all_of([*same, '1 = 2'])}"
    connect = sqlite3.connect if dialect == "sqlite" else duckdb.connect
    with closing(connect(":memory:")) as database:
        found = database.execute(sql).fetchone()
    assert tuple(map(bool, found)) == (False, True, True, False)
