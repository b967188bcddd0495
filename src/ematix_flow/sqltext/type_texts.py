"""Types as databases report them, read back into ours.

Both sides of a comparison go through here, the reported text and our own spelling of the
declared type, so what a dialect cannot tell apart is never called a difference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.expressions import DType

from ematix_flow.spec.types import (
    JSON,
    JSONB,
    UUID,
    Array,
    BigInt,
    Boolean,
    Bytes,
    DataType,
    Date,
    Double,
    Float,
    Integer,
    Numeric,
    SmallInt,
    String,
    Struct,
    Text,
    Timestamp,
    TimestampTZ,
)
from ematix_flow.sqltext.dialect_names import grammar_of, is_mysql
from ematix_flow.sqltext.type_table import spelling

_MICROSECONDS = 6


@dataclass(frozen=True, slots=True)
class AnyNumeric(DataType):
    """A decimal of any size: PostgreSQL's plain `numeric`."""


@dataclass(frozen=True, slots=True)
class CoarseTime(DataType):
    """A time with fewer than six decimals of seconds."""

    decimals: int
    zoned: bool


_PLAIN: dict[DType, DataType] = {
    DType.SMALLINT: SmallInt(),
    DType.INT: Integer(),
    DType.BIGINT: BigInt(),
    DType.FLOAT: Float(),
    DType.DOUBLE: Double(),
    DType.BOOLEAN: Boolean(),
    DType.TEXT: Text(),
    DType.LONGTEXT: Text(),
    DType.DATE: Date(),
    DType.JSON: JSON(),
    DType.JSONB: JSONB(),
    DType.UUID: UUID(),
    DType.BINARY: Bytes(),
    DType.VARBINARY: Bytes(),
    DType.LONGBLOB: Bytes(),
}
_ZONELESS = (DType.TIMESTAMP, DType.TIMESTAMPNTZ, DType.DATETIME)
_ZONED = (DType.TIMESTAMPTZ, DType.TIMESTAMPLTZ)
# MySQL counts the bytes of these; a character has up to four.
_MYSQL_TEXTS = {
    DType.TINYTEXT: String(255 // 4),
    DType.TEXT: String(65_535 // 4),
    DType.MEDIUMTEXT: String(16_777_215 // 4),
}
_TOKEN = re.compile(r'"(?:[^"]|"")*"|\w+|[^\w\s]')
_SQLITE_DECIMAL = re.compile(r"NUMERIC_TEXT\s*\((\d+)\s*,\s*(\d+)\)", re.IGNORECASE)
_SQLITE_NAMES: dict[str, DataType] = {
    spelling(type(kind), "sqlite"): kind
    for kind in (
        *(SmallInt(), Integer(), BigInt(), Float(), Double(), Boolean(), Text(), Date()),
        *(Timestamp(), TimestampTZ(), JSON(), UUID(), Bytes()),
    )
}


# A project's hundreds of tables share a few types.
@lru_cache(maxsize=4096)
def read_type(text: str, dialect: str) -> DataType | None:
    """Return what *text* means in *dialect*; None where we have no such type."""
    if dialect == "sqlite":
        if match := _SQLITE_DECIMAL.fullmatch(text.strip()):
            return _numeric(int(match[1]), int(match[2]))
        if found := _SQLITE_NAMES.get(text.strip().upper()):
            return found
    try:
        parsed = exp.DataType.build(text, dialect=grammar_of(dialect))
    except (ParseError, TokenError):
        return None
    return _meaning(parsed, dialect)


def as_reported(type_name: str) -> str:
    """Return a type of ours without the clauses that no database reports with it."""
    return type_name.partition(" CHARACTER SET")[0]


def same_text(one: str, other: str) -> bool:
    """Tell whether two texts name one type: databases space, case and quote as they like."""
    return _tokens(one) == _tokens(other)


def _tokens(type_text: str) -> list[str]:
    return [
        (token[1:-1].replace('""', '"') if token[0] == '"' else token).casefold()
        for token in _TOKEN.findall(as_reported(type_text))
    ]


def numeric_in_sqlite(text: str) -> bool:
    """Tell whether SQLite makes numbers of texts in a column of this type: of `007` a 7."""
    name = text.upper()
    if "INT" in name:
        return True
    return bool(name.strip()) and not any(part in name for part in ("CHAR", "CLOB", "TEXT", "BLOB"))


def _meaning(parsed: exp.DataType, dialect: str) -> DataType | None:
    kind = parsed.this
    sizes = [int(each.name) for each in parsed.expressions if each.name.isdigit()]
    if is_mysql(dialect) and (special := _meaning_in_mysql(kind, sizes)) is not None:
        return special
    if kind in (DType.DECIMAL, DType.VARCHAR):
        return _sized(kind, sizes, dialect)
    if kind in _ZONELESS or kind in _ZONED:
        return _time(sizes, dialect, zoned=kind in _ZONED)
    if kind == DType.ARRAY:
        return _array(parsed, dialect)
    if kind == DType.STRUCT:
        return _struct(parsed, dialect)
    # A width in brackets means nothing for whole numbers, and a limit for bytes.
    if sizes and kind in (DType.BINARY, DType.VARBINARY):
        return None
    return _PLAIN.get(kind)


def _meaning_in_mysql(kind: DType, sizes: list[int]) -> DataType | None:
    if kind == DType.TINYINT and sizes == [1]:
        return Boolean()
    if kind == DType.CHAR and sizes == [36]:
        return UUID()
    return _MYSQL_TEXTS.get(kind)


def _sized(kind: DType, sizes: list[int], dialect: str) -> DataType | None:
    match kind, sizes:
        case DType.VARCHAR, []:
            return Text()
        case DType.VARCHAR, [length]:
            return String(length)
        case DType.DECIMAL, [precision, *scale]:
            return _numeric(precision, *scale)
        case DType.DECIMAL, [] if dialect == "postgres":
            return AnyNumeric()
        case _:
            return None


def _numeric(precision: int, scale: int = 0) -> Numeric | None:
    try:
        return Numeric(precision, scale)
    except ValueError:
        # Databases hold more digits than an engine's decimal can have.
        return None


def _time(sizes: list[int], dialect: str, *, zoned: bool) -> DataType:
    # MySQL's DATETIME alone has whole seconds; elsewhere nothing said is microseconds.
    usual = 0 if is_mysql(dialect) else _MICROSECONDS
    decimals = sizes[0] if sizes else usual
    if decimals < _MICROSECONDS:
        return CoarseTime(decimals, zoned)
    return TimestampTZ() if zoned else Timestamp()


def _array(parsed: exp.DataType, dialect: str) -> DataType | None:
    # An array of a fixed length is another type.
    if parsed.args.get("values") or len(parsed.expressions) != 1:
        return None
    [element] = parsed.expressions
    if not isinstance(element, exp.DataType):
        return None
    inner = _meaning(element, dialect)
    return None if inner is None else Array(inner)


def _struct(parsed: exp.DataType, dialect: str) -> DataType | None:
    fields = []
    for each in parsed.expressions:
        kind = each.args.get("kind")
        inner = _meaning(kind, dialect) if isinstance(kind, exp.DataType) else None
        if inner is None:
            return None
        # The databases with structs know no case in their fields' names.
        fields.append((each.name.casefold(), inner))
    return Struct(*fields)
