"""Tables as real databases report them: created, compared, evolved."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import pytest

from ematix_flow._base.location import Location
from ematix_flow.errors import DriftError
from ematix_flow.plan.diff import ChangeKind, SchemaDiff, compare
from ematix_flow.plan.drift import resolve_drift
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.modes import OnDrift
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import (
    DATA_TYPES,
    UUID,
    Array,
    BigInt,
    Bytes,
    Double,
    Float,
    Integer,
    Numeric,
    SmallInt,
    String,
    Struct,
    Text,
)
from ematix_flow.sqltext.bookkeeping import Bookkeeping
from ematix_flow.sqltext.ddl import create_table
from ematix_flow.sqltext.dialect_names import grammar_of
from ematix_flow.sqltext.identifiers import quoted
from tests.services.absence import required
from tests.services.namespace import Database

NAME = TableName(name='odd "`name')
HERE = Location("x.py", 1)


@dataclass(frozen=True)
class Live:
    """A real database: how to run a statement, and what it says of a table."""

    dialect: str
    run: Callable[[str], list[tuple]]
    columns: Callable[[], Sequence[ActualColumn]]

    def compare(self, table: Table) -> SchemaDiff:
        return compare(table, self.columns(), self.dialect)


@pytest.fixture
def sqlite() -> Iterator[Live]:
    with closing(sqlite3.connect(":memory:")) as database:

        def run(sql: str) -> list[tuple]:
            return database.execute(sql).fetchall()

        def columns() -> Sequence[ActualColumn]:
            from ematix_flow.backends.impl.sqlite.write import SqliteSession

            return SqliteSession(database).columns(NAME) or ()

        yield Live("sqlite", run, columns)


@pytest.fixture
def duckdb() -> Iterator[Live]:
    import duckdb

    with duckdb.connect() as database:

        def columns() -> Sequence[ActualColumn]:
            from ematix_flow.backends.impl.duckdb.write import DuckdbSession

            return DuckdbSession(database).columns(NAME) or ()

        yield Live("duckdb", lambda sql: database.execute(sql).fetchall(), columns)


@pytest.fixture
def postgresql(postgres_database: Database) -> Iterator[Live]:
    psycopg = required("psycopg", "psycopg[binary]")
    with psycopg.connect(postgres_database.dsn, autocommit=True) as connection:

        def run(sql: str) -> list[tuple]:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

        def columns() -> Sequence[ActualColumn]:
            rows = connection.execute(
                "SELECT attname, format_type(atttypid, atttypmod), NOT attnotnull, "
                "attnum = ANY(coalesce((SELECT conkey FROM pg_constraint "
                "WHERE conrelid = attrelid AND contype = 'p'), '{}')) FROM pg_attribute "
                "JOIN pg_class ON attrelid = pg_class.oid "
                "WHERE relname = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                (NAME.name,),
            ).fetchall()
            return _actual(rows)

        yield Live("postgres", run, columns)


@pytest.fixture
def mariadb_live(mariadb_database: Database) -> Iterator[Live]:
    yield from of_mysql(mariadb_database, "mariadb")


@pytest.fixture
def mysql_live(mysql_database: Database) -> Iterator[Live]:
    yield from of_mysql(mysql_database, "mysql")


def of_mysql(database: Database, dialect: str) -> Iterator[Live]:
    server = database.server
    connection = required("pymysql", "pymysql").connect(
        host=server.host,
        port=server.port,
        user=server.facts["user"],
        password=server.facts["password"],
        database=database.name,
        autocommit=True,
    )
    with closing(connection):

        def run(sql: str, parameters: tuple[str, ...] = ()) -> list[tuple]:
            with connection.cursor() as cursor:
                cursor.execute(sql, parameters or None)
                return list(cursor.fetchall())

        def columns() -> Sequence[ActualColumn]:
            return _actual(
                run(
                    "SELECT column_name, column_type, is_nullable = 'YES', column_key = 'PRI' "
                    "FROM information_schema.columns WHERE table_name = %s "
                    "AND table_schema = database() ORDER BY ordinal_position",
                    (NAME.name,),
                )
            )

        yield Live(dialect, run, columns)


def _actual(rows: Sequence[tuple]) -> tuple[ActualColumn, ...]:
    return tuple(
        ActualColumn(name=name, type=kind, nullable=bool(nullable), primary_key=bool(key))
        for name, kind, nullable, key in rows
    )


@pytest.fixture(
    params=[
        "sqlite",
        "duckdb",
        pytest.param("postgresql", marks=pytest.mark.services),
        pytest.param("mariadb_live", marks=pytest.mark.services),
        pytest.param("mysql_live", marks=pytest.mark.services),
    ]
)
def live(request: pytest.FixtureRequest) -> Live:
    found: Live = request.getfixturevalue(request.param)
    return found


def table(*columns: Column, unique: tuple[tuple[str, ...], ...] = ()) -> Table:
    return Table(name=NAME, columns=columns, location=HERE, unique_constraints=unique)


def created(live: Live, declared: Table) -> None:
    live.run(create_table(declared, declared.name, live.dialect))


SAMPLES = {
    String: (String(7), String(30_000), String(20_000_000)),
    Numeric: (Numeric(10, 2), Numeric(38, 10)),
    Array: (Array(Text()), Array(Array(Integer())), Array(Struct(("a", Text))), Array(String(3))),
    Struct: (Struct(("a b", Text), ("c", Array(Numeric(4, 1)))),),
}
KINDS = [kind for declared in DATA_TYPES for kind in SAMPLES.get(declared) or (declared(),)]


@pytest.mark.proves("type-table", "hostile-names")
def test_every_type_is_itself_when_it_comes_back(live: Live) -> None:
    wide = table(
        Column(name="id", type=Text(), primary_key=True),
        Column(name="part", type=UUID(), primary_key=True),
        *(Column(name=f"Column {n}", type=kind, nullable=True) for n, kind in enumerate(KINDS)),
        Column(name="mail", type=String(40)),
        Column(name="raw", type=Bytes()),
        unique=(("mail",), ("mail", "Column 2")),
    )
    created(live, wide)
    assert live.compare(wide).changes == ()
    # Creating it again changes nothing.
    created(live, wide)


def test_our_own_tables_can_be_created(live: Live) -> None:
    for statement in Bookkeeping(live.dialect).create:
        live.run(statement)


def test_a_unique_constraint_is_enforced(live: Live) -> None:
    declared = table(
        Column(name="id", type=BigInt()), Column(name="mail", type=Text()), unique=(("mail",),)
    )
    created(live, declared)
    name = quoted(NAME.name, grammar_of(live.dialect))
    live.run(f"INSERT INTO {name} VALUES (1, 'a')")
    live.run(f"INSERT INTO {name} VALUES (2, 'A')")
    with pytest.raises(Exception, match=r"(?i)unique|duplicate"):
        live.run(f"INSERT INTO {name} VALUES (3, 'a')")


OLD = table(
    Column(name="id", type=BigInt(), primary_key=True),
    Column(name="small", type=SmallInt()),
    Column(name="code", type=String(3), nullable=True),
    Column(name="single", type=Float()),
    Column(name="note", type=Text()),
    Column(name="money", type=Numeric(6, 2)),
)
WIDER = table(
    Column(name="id", type=BigInt(), primary_key=True),
    Column(name="small", type=BigInt()),
    Column(name="code", type=Text(), nullable=True),
    Column(name="single", type=Double()),
    Column(name="note", type=Text(), nullable=True),
    Column(name="money", type=Numeric(8, 3)),
    Column(name="added", type=Integer()),
)


@pytest.mark.proves("drift-policies", "drift-kinds")
def test_evolving_widens_and_adds_and_loses_nothing(live: Live) -> None:
    created(live, OLD)
    name = quoted(NAME.name, grammar_of(live.dialect))
    live.run(f"INSERT INTO {name} VALUES (1, -32768, 'abc', 0.5, 'n', '1234.25')")
    diff = live.compare(WIDER)
    if live.dialect == "sqlite":
        with pytest.raises(DriftError, match="money is NUMERIC_TEXT") as caught:
            resolve_drift(diff, OnDrift.EVOLVE, HERE, NAME)
        assert "SQLite cannot change a column" in str(caught.value)
        return
    decision = resolve_drift(diff, OnDrift.EVOLVE, HERE, NAME)
    for statement in decision.ddl:
        live.run(statement)
    assert not decision.destructive
    [row] = live.run(f"SELECT id, small, code, single, note, added FROM {name}")
    assert row == (1, -32768, "abc", 0.5, "n", None)
    live.run(f"INSERT INTO {name} VALUES (2, {2**62}, 'abcdefgh', 1e300, NULL, 99999.125, 7)")
    # Only what evolving leaves on purpose: the rows that were there have no value for it.
    [left] = live.compare(WIDER).changes
    assert (left.kind, left.column) == (ChangeKind.NOT_NULL, "added")


@pytest.mark.proves("drift-policies", "drift-kinds")
def test_evolving_sqlite_adds_columns(sqlite: Live) -> None:
    created(sqlite, OLD)
    more = table(*OLD.columns, Column(name="added", type=Numeric(4, 2), nullable=True))
    decision = resolve_drift(sqlite.compare(more), OnDrift.EVOLVE, HERE, NAME)
    for statement in decision.ddl:
        sqlite.run(statement)
    assert sqlite.compare(more).changes == ()


def test_destructive_statements_are_valid_too(live: Live) -> None:
    created(live, WIDER)
    retyped = table(
        *OLD.columns[:5],
        Column(name="money", type=Text()),
        Column(name="fresh", type=Integer(), nullable=True),
    )
    diff = live.compare(retyped)
    renamed = diff.of(ChangeKind.RENAME)
    for change in diff.changes:
        if change.sql and change not in renamed and change.column != "fresh":
            live.run(change.sql)
    assert [change.text for change in renamed] == ["rename? added -> fresh"]
    left = {(change.kind.value, change.column) for change in live.compare(retyped).changes}
    if live.dialect == "sqlite":
        # It has no statement for them.
        left -= {("narrow", "small"), ("not_null", "note"), ("retype", "money")}
        left -= {("narrow", "single")}
    assert left == {("add", "fresh")}


@pytest.mark.proves("drift-kinds", "hostile-names")
def test_a_guessed_rename_is_a_valid_statement(live: Live) -> None:
    created(live, OLD)
    renamed = table(
        *OLD.columns[:4],
        Column(name="notes", type=Text()),
        Column(name="money", type=Numeric(6, 2)),
    )
    [guess] = live.compare(renamed).of(ChangeKind.RENAME)
    assert guess.text == "rename? note -> notes"
    live.run(guess.sql)
    assert live.compare(renamed).changes == ()
