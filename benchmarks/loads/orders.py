"""The rows of the contest: 12 mixed columns, a first day, and a second one with changes.

Everything is told in SQL, so that the database makes the rows and judges them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

TABLE = "orders"
# A tenth of the rows changes, and a thousandth is new on the second day.
CHANGED = "id % 10 = 3"
NEW = 1000


class Column(NamedTuple):
    """A column: its type, how a row's number makes its value, and its text in each database."""

    name: str
    type: str
    value: str
    postgres: str
    duckdb: str


def _column(name: str, kind: str, value: str, text: str, duckdb: str | None = None) -> Column:
    return Column(name, kind, value, text, duckdb or text)


_SECONDS = "YYYY-MM-DD HH24:MI:SS.US"
_SECONDS_DUCKDB = "%Y-%m-%d %H:%M:%S.%f"
# The texts are casts to the declared type first: whoever stored a date as text still has its value.
COLUMNS = (
    _column("id", "bigint NOT NULL", "n", "id::bigint::text"),
    _column("customer", "text NOT NULL", "'customer ' || n % 9973 || ' of many'", "customer"),
    _column(
        "country",
        "varchar(2) NOT NULL",
        "(ARRAY['DE','FR','US','JP','BR'])[1 + n % 5]",
        "country",
    ),
    _column(
        "amount",
        "numeric(12,2) NOT NULL",
        "(n * 7919 % 100000000)::numeric / 100",
        "amount::numeric(12,2)::text",
        "amount::decimal(12,2)::text",
    ),
    # Never a whole number: those are written with and without ".0".
    _column("score", "double precision NOT NULL", "n % 1000 + 0.125", "score::float8::text"),
    _column("active", "boolean NOT NULL", "n % 3 = 0", "active::boolean::text"),
    _column("day", "date NOT NULL", "date '2024-01-01' + (n % 700)::int", "day::date::text"),
    _column(
        "placed_at",
        "timestamp NOT NULL",
        "timestamp '2024-01-01' + n * interval '13.000127 seconds'",
        f"to_char(placed_at::timestamp, '{_SECONDS}')",
        f"strftime(placed_at::timestamp, '{_SECONDS_DUCKDB}')",
    ),
    _column(
        "updated_at",
        "timestamptz NOT NULL",
        "timestamptz '2025-01-01 00:00+00' + n * interval '1.5 seconds'",
        f"to_char(updated_at::timestamptz, '{_SECONDS}')",
        f"strftime(updated_at::timestamptz AT TIME ZONE 'UTC', '{_SECONDS_DUCKDB}')",
    ),
    _column("quantity", "integer NOT NULL", "n % 50 + 1", "quantity::integer::text"),
    _column(
        "note",
        "text",
        "CASE WHEN n % 4 > 0 THEN 'left at the door, ' || n END",
        "coalesce(note, '~')",
    ),
    _column("reference", "uuid NOT NULL", "md5(n::text)::uuid", "reference::uuid::text"),
)
NAMES = tuple(column.name for column in COLUMNS)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """How many rows there are, and the sum of their hashes."""

    rows: int
    total: int


def create(table: str) -> str:
    """Return the DDL of *table*."""
    columns = ", ".join(f"{column.name} {column.type}" for column in COLUMNS)
    return f"CREATE TABLE {table} ({columns}, PRIMARY KEY (id))"


def create_if_missing(table: str) -> str:
    """Return the DDL that leaves a *table* alone which is there."""
    return create(table).replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1)


def first_day(table: str, rows: int) -> str:
    """Return the statement that fills *table* with the first day."""
    values = ", ".join(column.value for column in COLUMNS)
    return f"INSERT INTO {table} SELECT {values} FROM generate_series(1, {rows}::bigint) AS n"


def second_day(table: str, rows: int) -> tuple[str, ...]:
    """Return the statements that fill *table* with the second day: changed, and a few new."""
    new = first_day(table, rows + new_rows(rows))
    # Made whole, not updated in place: the table is as compact as the first day's.
    changes = {
        "amount": "amount + 1",
        "note": "'changed ' || id",
        "updated_at": "updated_at + interval '1 day'",
    }
    values = ", ".join(
        f"CASE WHEN {CHANGED} AND id <= {rows} THEN {changes[name]} ELSE {name} END"
        if name in changes
        else name
        for name in NAMES
    )
    return (
        create(f"{table}_made"),
        new.replace(f"INTO {table} ", f"INTO {table}_made ", 1),
        f"INSERT INTO {table} SELECT {values} FROM {table}_made ORDER BY id",
        f"DROP TABLE {table}_made",
    )


def new_rows(rows: int) -> int:
    """Return how many rows the second day adds."""
    return max(1, rows // NEW)


def fingerprint(table: str, dialect: str, where: str = "true") -> str:
    """Return the query of the number of rows and the sum of their hashes.

    One text for both databases, so that a table of DuckDB is held against one of PostgreSQL.
    """
    if dialect == "postgres":
        row = " || '|' || ".join(column.postgres for column in COLUMNS)
        number = f"('x' || substr(md5({row}), 1, 8))::bit(32)::bigint"
    else:
        row = " || '|' || ".join(f"({column.duckdb})" for column in COLUMNS)
        number = f"('0x' || substr(md5({row}), 1, 8))::bigint"
    return f"SELECT count(*), coalesce(sum({number}), 0)::text FROM {table} WHERE {where}"
