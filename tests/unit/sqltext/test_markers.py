"""Markers in the databases that are said to understand them as Spark does."""

import sqlite3
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import strategies as st
from sqlglot import exp

from ematix_flow._base.location import Location
from ematix_flow.spec import normalize as m
from ematix_flow.spec.contract import Contract
from ematix_flow.spec.normalize.family import Family, family_of
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import Numeric, Text, Timestamp
from ematix_flow.sqltext.markers import PROVEN, describe, needs_spark, normalized_select
from tests.unit.sqltext.marker_cases import CASES, Case, drawn, table_of
from tests.unit.sqltext.marker_reference import expected

VALUES = 60


def proven_cases(dialect):
    return [case for case in CASES if needs_spark(table_of(case), dialect) is None]


def as_parameter(value, dialect):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, datetime | date):
        return value.isoformat()
    if dialect == "sqlite":
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


def query_of(case, dialect):
    """The SELECT that a pipeline would push down, over a table of text."""
    kind = exp.DataType.build(case.given)
    value = '"v"' if dialect == "sqlite" else f'CAST("v" AS {kind.sql(dialect=dialect)})'
    select = normalized_select(table_of(case), f'SELECT "n", {value} AS "v" FROM given', dialect)
    shown = '"v"' if dialect == "sqlite" else 'CAST("v" AS VARCHAR)'
    if family_of(case.kind) is Family.INSTANT:
        shown = """CAST("v" AT TIME ZONE 'UTC' AS VARCHAR) || '+00:00'"""
    flags = "".join(f', "{rule.flag}"' for rule in Contract.of(table_of(case)).on_markers)
    return f'SELECT {shown}{flags} FROM ({select}) AS normalized ORDER BY "n"'


def understood(case, text):
    """Return what the database said as a Python value."""
    if text is None or family_of(case.kind) is Family.TEXT:
        return text
    match family_of(case.kind):
        case Family.BOOLEAN:
            return str(text) in ("true", "1")
        case Family.NUMBER:
            return float(text) if case.given == "double" else Decimal(str(text))
        case Family.DATE:
            return date.fromisoformat(text)
        case Family.WALL_CLOCK:
            return datetime.fromisoformat(text)
        case Family.INSTANT:
            return datetime.fromisoformat(text)


def require_equal(case, dialect, execute):
    """Run *case* through *execute* and compare each row with plain Python."""
    values = drawn(case.values, VALUES)
    rows = execute(
        [(n, as_parameter(value, dialect)) for n, value in enumerate(values)],
        query_of(case, dialect),
    )
    assert len(rows) == len(values)
    for value, (text, *flags) in zip(values, rows, strict=True):
        wanted, failed = expected(case.markers, value, case.kind)
        assert understood(case, text) == wanted, (value, text)
        assert [flag for flag in flags if flag is not None] == ([value] if failed else []), value


@pytest.mark.proves("markers", "on-failure")
@pytest.mark.parametrize("case", proven_cases("duckdb"), ids=lambda case: case.name)
def test_duckdb_agrees(case):
    duckdb = pytest.importorskip("duckdb")

    def execute(rows, query):
        with duckdb.connect() as database:
            database.execute("SET TimeZone = 'America/New_York'")
            database.execute("CREATE TABLE given (n BIGINT, v VARCHAR)")
            numbers, values = zip(*rows, strict=True)
            database.execute(
                "INSERT INTO given SELECT unnest(?::BIGINT[]), unnest(?::VARCHAR[])",
                [list(numbers), list(values)],
            )
            return database.execute(query).fetchall()

    require_equal(case, "duckdb", execute)


@pytest.mark.proves("markers")
@pytest.mark.parametrize("case", proven_cases("sqlite"), ids=lambda case: case.name)
def test_sqlite_agrees(case):
    def execute(rows, query):
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute("CREATE TABLE given (n BIGINT, v)")
            database.executemany("INSERT INTO given VALUES (?, ?)", rows)
            return database.execute(query).fetchall()

    require_equal(case, "sqlite", execute)


@pytest.mark.proves("markers")
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "sqlite"])
def test_every_claim_is_exercised(dialect):
    claimed = {kind for kind, dialects in PROVEN.items() if dialect in dialects}
    tried = {type(marker) for case in proven_cases(dialect) for marker in case.markers}
    # It reads another column, so it has a test of its own.
    assert tried | {type(m.not_null_or("x"))} == claimed


def test_the_plan_shows_markers_as_they_were_written():
    column = table_of(CASES[0]).columns[1]
    assert describe(column) == "trim()"
    formats = m.parse_date(formats=["%d.%m.%Y", "%y%m%d"], on_failure="null")
    assert str(formats) == "parse_date('%d.%m.%Y', '%y%m%d', on_failure='null')"
    assert str(m.clamp(max=5)) == "clamp(max=5)"
    assert str(m.replace("a", "b")) == "replace('a', 'b')"
    assert str(m.nullif("N/A", "-")) == "nullif('N/A', '-')"
    aside = m.phone_normalize("DE", on_failure="quarantine")
    assert str(aside) == "phone_normalize(country='DE', on_failure='quarantine')"
    assert str(m.phone_normalize("DE")) == "phone_normalize(country='DE')"


@pytest.mark.parametrize(
    ("marker", "kind", "dialect"),
    [
        (m.lower(), Text(), "duckdb"),
        (m.regex_replace("a", "b"), Text(), "duckdb"),
        (m.default(Decimal(1)), Numeric(5, 2), "sqlite"),
        (m.round(2), Numeric(5, 2), "duckdb"),
        (m.to_timezone("Europe/Berlin"), Timestamp(), "duckdb"),
        (m.sql("upper({})"), Text(), "postgres"),
        (m.trim(), Text(), "mysql"),
    ],
)
def test_what_is_not_proven_needs_spark(marker, kind, dialect):
    why = needs_spark(table_of(Case(kind, (marker,), st.none())), dialect)
    assert why is not None
    assert dialect in why


FALLBACKS = Table(
    name=TableName(name="t"),
    columns=(
        Column(name="a", type=Text(), nullable=True, markers=(m.not_null_or("b", "c"),)),
        Column(name="b", type=Text(), nullable=True, markers=(m.empty_to_null(),)),
        Column(name="c", type=Text(), nullable=True),
    ),
    location=Location("x.py", 1),
)
FALLBACK_ROWS = "SELECT CAST(NULL AS VARCHAR) AS a, CAST('' AS VARCHAR) AS b, 'c' AS c"


def require_fallbacks(dialect, fetch):
    """Column b is empty, and a sees it as its own marker left it."""
    assert needs_spark(FALLBACKS, dialect) is None
    rows = fetch(normalized_select(FALLBACKS, FALLBACK_ROWS, dialect))
    assert rows == [("c", None, "c")]


@pytest.mark.proves("markers")
def test_fallbacks_agree_in_every_database():
    with closing(sqlite3.connect(":memory:")) as database:
        require_fallbacks("sqlite", lambda query: database.execute(query).fetchall())
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as database:
        require_fallbacks("duckdb", lambda query: database.execute(query).fetchall())


NASTY = ["'; DROP TABLE t; --", "\\' OR 1=1", "${env:HOME}", '"', "`", "/*", "$$", "{}", "%s", "?"]


@pytest.mark.parametrize("text", NASTY)
def test_arguments_are_never_sql(text):
    table = table_of(
        Case(Text(), (m.replace("x", text), m.default(text), m.nullif("y")), st.none())
    )
    rows = "SELECT 1 AS n, v FROM (VALUES ('x'), (NULL)) AS g (v)"
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as database:
        found = database.execute(normalized_select(table, rows, "duckdb")).fetchall()
    assert found == [(1, text), (1, text)]
    with closing(sqlite3.connect(":memory:")) as database:
        sqlite_rows = "SELECT 1 AS n, 'x' AS v UNION ALL SELECT 1, NULL"
        assert database.execute(normalized_select(table, sqlite_rows, "sqlite")).fetchall() == found


def test_a_chain_of_hungry_markers_does_not_explode():
    """Each uses its value several times; in one expression they would multiply."""
    markers = (m.whitespace_to_null(), m.phone_normalize("DE"), m.nullif("a", "b")) * 4
    sql = normalized_select(table_of(Case(Text(), markers, st.none())), "SELECT 1", "spark")
    assert len(sql) < 20_000
