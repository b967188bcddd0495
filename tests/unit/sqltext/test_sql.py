import sqlite3
from contextlib import closing

import pytest

from ematix_flow._base.location import Location
from ematix_flow.errors import QueryError
from ematix_flow.spec.layout import Layout
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import BigInt, Struct
from ematix_flow.sqltext.ddl import create_table
from ematix_flow.sqltext.dialect import parse_query
from ematix_flow.sqltext.first_rows import first_rows
from ematix_flow.sqltext.identifiers import physical_name, quoted
from ematix_flow.sqltext.program import write_program
from ematix_flow.sqltext.references import table_references
from ematix_flow.sqltext.type_names import type_name

HOSTILE = 'a"b`c;--'


def test_the_first_rows_of_a_query_that_ends_in_a_comment(tmp_path):
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        query = first_rows("SELECT 1 UNION ALL SELECT 2 -- both", 1)
        assert database.execute(query).fetchall() == [(1,)]


def table(*columns, name="t"):
    return Table(name=TableName(name=name), columns=columns, location=Location("x.py", 1))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM a", ["a"]),
        ("SELECT * FROM a JOIN b USING (x) WHERE y IN (SELECT y FROM c)", ["a", "b", "c"]),
        ("WITH a AS (SELECT * FROM b) SELECT * FROM a", ["b"]),
        ("WITH a AS (SELECT * FROM a) SELECT * FROM a", ["a"]),
        ("SELECT * FROM s.a UNION ALL SELECT * FROM a", ["a", "s.a"]),
        ("SELECT * FROM `odd name`", ["odd name"]),
        ("SELECT 1", []),
        ("SELECT * FROM a LATERAL VIEW explode(xs) t AS x", ["a"]),
    ],
)
def test_tables_come_from_the_parsed_query(sql, expected):
    query = parse_query(sql, dialect="spark", where="x")
    assert sorted(map(str, table_references(query))) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a, FROM (x", "does not parse"),
        ("SELECT 'x", "does not parse"),
        ("", "the query is empty"),
        ("-- nothing", "the query is empty"),
        ("SELECT 1; SELECT 2", "holds 2 statements"),
        ("DELETE FROM t", "a pipeline returns a SELECT, not 'DELETE FROM t'"),
        ("selec * fro t", "a pipeline returns a SELECT, not 'selec * fro t'"),
        ("DROP TABLE t", "a pipeline returns a SELECT"),
    ],
)
def test_what_is_not_one_select_is_refused(sql, expected):
    with pytest.raises(QueryError) as caught:
        parse_query(sql, dialect="spark", where="p.py:3")
    assert expected in str(caught.value)
    assert str(caught.value).startswith("p.py:3: ")


def program_of(mode, declared, dialect):
    layout = Layout(table=declared, mode=mode, given=declared.column_names)
    return write_program(layout, declared.name, dialect, pipeline="p")


@pytest.mark.proves("hostile-names")
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_names_are_always_quoted(dialect):
    declared = table(Column(name=HOSTILE, type=BigInt(), primary_key=True), name=HOSTILE)
    quoted = '"a""b`c;--"'
    assert create_table(declared, declared.name, dialect) == (
        f"CREATE TABLE IF NOT EXISTS {quoted} ({quoted} BIGINT NOT NULL, PRIMARY KEY ({quoted}))"
    )
    [insert] = program_of(Mode.APPEND, declared, dialect).statements
    chosen = f'SELECT s.{quoted} FROM "_flow_staging" AS s'
    assert insert.sql == f"INSERT INTO {quoted} ({quoted}) {chosen}"


def test_truncate_is_a_delete_in_the_same_program():
    declared = table(Column(name="a", type=BigInt()))
    delete, insert = program_of(Mode.TRUNCATE, declared, "duckdb").statements
    assert delete.sql == 'DELETE FROM "t"'
    assert insert.sql.startswith('INSERT INTO "t"')


def test_sqlite_joins_schema_and_name():
    declared = TableName(name="orders", schema="raw")
    assert str(physical_name(declared, "sqlite")) == "raw__orders"
    assert str(physical_name(declared, "duckdb")) == "raw.orders"


def test_sqlite_keeps_tables_of_different_schemas_apart():
    one = physical_name(TableName(name="b_c", schema="a"), "sqlite")
    other = physical_name(TableName(name="c", schema="a_b"), "sqlite")
    assert one != other


@pytest.mark.proves("hostile-names")
@pytest.mark.parametrize("dialect", ["spark", "duckdb"])
def test_fields_of_a_struct_are_quoted(dialect):
    assert quoted(HOSTILE, dialect) in type_name(Struct((HOSTILE, BigInt())), dialect)
