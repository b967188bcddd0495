"""What the columns of SQLite's tables mean: their declared types, which bind SQLite to nothing."""

from __future__ import annotations

import re

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from ematix_flow.spec.types import (
    MOST_DIGITS,
    BigInt,
    Boolean,
    Bytes,
    DataType,
    Date,
    Double,
    Numeric,
    Text,
    Timestamp,
    TimestampTZ,
)

_DECIMAL = re.compile(
    r"(?:NUMERIC|DECIMAL)(?:_TEXT)?\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)", re.IGNORECASE
)
# The first that is part of the declared type counts.
_PARTS: tuple[tuple[str, DataType], ...] = (
    ("TIMESTAMPTZ", TimestampTZ()),
    ("TIMESTAMP", Timestamp()),
    ("DATETIME", Timestamp()),
    ("DATE", Date()),
    ("BOOL", Boolean()),
    ("INT", BigInt()),
    ("CHAR", Text()),
    ("TEXT", Text()),
    ("CLOB", Text()),
    ("BLOB", Bytes()),
    ("REAL", Double()),
    ("FLOA", Double()),
    ("DOUB", Double()),
)

# What a CAST to these gives is of one storage class, whatever it was given.
_CAST_TO = {
    exp.DataType.Type.INT: "BIGINT",
    exp.DataType.Type.BIGINT: "BIGINT",
    exp.DataType.Type.TEXT: "TEXT",
    exp.DataType.Type.DOUBLE: "REAL",
    exp.DataType.Type.FLOAT: "REAL",
}


def meaning_in_sqlite(declared: str) -> DataType | None:
    """Return what a column of this declared type is read as; None where that says nothing."""
    name = declared.upper()
    if match := _DECIMAL.search(name):
        precision, scale = int(match[1]), int(match[2] or 0)
        return Numeric(precision, scale) if scale <= precision <= MOST_DIGITS else Text()
    return next((kind for part, kind in _PARTS if part in name), None)


def told_by_text(query: str) -> dict[str, str]:
    """Return the types of columns that the text of a query itself tells, by their names.

    SQLite tells no type of an expression, not even of a CAST.
    """
    try:
        parsed = parse_one(query, dialect="sqlite")
    except SqlglotError:
        return {}  # SQLite may know what sqlglot does not
    if not isinstance(parsed, exp.Select):
        return {}
    found = {each.alias_or_name: _told(each.unalias()) for each in parsed.expressions}
    return {name: kind for name, kind in found.items() if name and kind is not None}


def _told(node: exp.Expr) -> str | None:
    match node:
        case exp.Count():
            return "BIGINT"
        case exp.Cast(to=exp.DataType(this=kind)):
            return _CAST_TO.get(kind)
        case exp.Literal():
            return "TEXT" if node.is_string else None
        case _:
            return None
