"""A declared column in a dialect: its type's name there, and what is unusual about it.

SQLite has few types and forgets lengths, so there the declared name is kept for
readers (SQLite allows any name) and values are stored in a form that loses nothing:
decimals, dates and instants as canonical text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ematix_flow.errors import NotSupported
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import (
    JSON,
    JSONB,
    Array,
    Bytes,
    DataType,
    Numeric,
    String,
    Struct,
    Text,
)
from ematix_flow.sqltext.dialect_names import is_mysql
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.type_table import JSON_HOLDER, NOTES, spelling

# An InnoDB key has at most 3,072 bytes; three Text columns still fit into one.
_MYSQL_KEY_LENGTH = 255
_MYSQL_KEY_LONGEST = 3072 // 4
# A row has at most 65,535 bytes, so a longer VARCHAR cannot exist.
_MYSQL_VARCHAR_LONGEST = 65_535 // 4
_MYSQL_MOST_DECIMALS = 30

_POSTGRES_VARCHAR_LONGEST = 10_485_760

# What a key cannot be, because the database cannot compare or index it.
_NO_KEY: dict[str, tuple[type[DataType], ...]] = {
    "postgres": (JSON,),
    "mysql": (JSON, JSONB, Array, Struct),
    "mariadb": (JSON, JSONB, Array, Struct),
    "duckdb": (Array, Struct),
}


@dataclass(frozen=True, slots=True)
class Held:
    """How a dialect holds a column.

    :param note: What is unusual about it; None where it is what one would expect.
    """

    type_name: str
    note: str | None = None


def type_name(kind: DataType, dialect: str, *, key: bool = False) -> str:
    """Return how *kind* is declared in *dialect*; a type it cannot hold is an error.

    :param key: Whether the column is part of a key: MySQL's keys have a length.
    """
    return _held(kind, dialect, key=key).type_name


def held_as(column: Column, dialect: str, *, key: bool | None = None) -> Held:
    """Return how *dialect* holds *column*.

    :param key: Whether it is part of a key or unique constraint; None asks the column.
    """
    is_key = column.primary_key or column.natural_key if key is None else key
    return _held(column.type, dialect, key=is_key)


def notes_of(table: Table, dialect: str) -> tuple[str, ...]:
    """Return what is unusual about how *dialect* holds the table, for `plan` to show."""
    return tuple(
        f"{column.name} ({column.type}) {held.note}"
        for column, held in zip(table.columns, held_columns(table, dialect), strict=True)
        if held.note
    )


def held_columns(table: Table, dialect: str) -> tuple[Held, ...]:
    """Return how *dialect* holds each column; the error of a column names it."""
    keys = {*table.merge_keys, *(name for names in table.unique_constraints for name in names)}
    found = []
    for column in table.columns:
        try:
            found.append(held_as(column, dialect, key=column.name in keys or None))
        except NotSupported as error:
            raise NotSupported(f"column {column.name}: {error.what}", hint=error.hint) from error
    return tuple(found)


def held_as_json(kind: DataType, dialect: str) -> bool:
    """Tell whether *dialect* has no type for this array or struct and keeps it as JSON."""
    match kind:
        case Array(element) if dialect == "postgres":
            # Its arrays of arrays must be rectangular, and its structs need a named type.
            return isinstance(element, Array | Struct | JSON | JSONB)
        case Array() | Struct():
            return dialect in JSON_HOLDER
        case _:
            return False


def json_columns(table: Table, dialect: str) -> tuple[str, ...]:
    """Return the arrays and structs of *table* that *dialect* keeps as JSON."""
    return tuple(column.name for column in table.columns if held_as_json(column.type, dialect))


def _held(kind: DataType, dialect: str, *, key: bool) -> Held:
    if key and isinstance(kind, _NO_KEY.get(dialect, ())):
        raise NotSupported(
            f"{kind} cannot be a key in {dialect}",
            hint="choose columns of plain types as the key",
        )
    if held_as_json(kind, dialect):
        return Held(JSON_HOLDER[dialect], "as JSON")
    if is_mysql(dialect):
        return _held_by_mysql(kind, dialect, key=key)
    if dialect == "postgres" and isinstance(kind, String) and _is_too_long_for_postgres(kind):
        return Held(
            _spelt(kind, dialect), "as TEXT: the length is judged before the row is written"
        )
    return Held(_spelt(kind, dialect), NOTES.get((type(kind), dialect)))


def _held_by_mysql(kind: DataType, dialect: str, *, key: bool) -> Held:
    usual = Held(_spelt(kind, dialect), NOTES.get((type(kind), dialect)))
    match kind:
        case Numeric(_, scale) if scale > _MYSQL_MOST_DECIMALS:
            raise NotSupported(
                f"{kind} cannot be held by {dialect}, whose decimals have at most "
                f"{_MYSQL_MOST_DECIMALS} digits after the point",
                hint="declare fewer, and ROUND in the query",
            )
        case Text() if key:
            short = _spelt(String(_MYSQL_KEY_LENGTH), dialect)
            return Held(short, f"as VARCHAR({_MYSQL_KEY_LENGTH}), because it is a key")
        case Bytes() if key:
            short = f"VARBINARY({_MYSQL_KEY_LENGTH})"
            return Held(short, f"as {short}, because it is a key")
        case String(length) if key and length > _MYSQL_KEY_LONGEST:
            raise NotSupported(
                f"{kind} cannot be a key in {dialect}, whose keys have at most "
                f"{_MYSQL_KEY_LONGEST} characters",
                hint=f"declare at most String[{_MYSQL_KEY_LONGEST}]",
            )
        case String(length) if length > _MYSQL_VARCHAR_LONGEST:
            note = "as LONGTEXT: the length is judged before the row is written"
            return Held(_spelt(Text(), dialect), note)
        case _:
            return usual


def _spelt(kind: DataType, dialect: str) -> str:
    match kind:
        case Array(element) if dialect in ("duckdb", "postgres"):
            return f"{_spelt(element, dialect)}[]"
        case Array(element):
            return f"ARRAY<{_spelt(element, dialect)}>"
        case Struct(fields) if dialect == "duckdb":
            return f"STRUCT({_fields(fields, dialect, separator=' ')})"
        case Struct(fields):
            return f"STRUCT<{_fields(fields, dialect, separator=': ')}>"
        case String() if dialect == "postgres" and _is_too_long_for_postgres(kind):
            return spelling(Text, dialect)
        case String(length):
            return spelling(String, dialect).format(length=length)
        case Numeric(precision, scale):
            return spelling(Numeric, dialect).format(precision=precision, scale=scale)
        case _:
            return spelling(type(kind), dialect)


def _is_too_long_for_postgres(kind: String) -> bool:
    return kind.length > _POSTGRES_VARCHAR_LONGEST


def _fields(fields: Iterable[tuple[str, DataType]], dialect: str, *, separator: str) -> str:
    # Delta and Iceberg are spoken to in Spark's SQL.
    quotes = "duckdb" if dialect == "duckdb" else "spark"
    return ", ".join(
        f"{quoted(name, quotes)}{separator}{_spelt(kind, dialect)}" for name, kind in fields
    )
