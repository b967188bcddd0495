"""Whether a column of one type can become another without losing a value."""

from __future__ import annotations

from enum import StrEnum

from ematix_flow.spec.types import (
    JSON,
    JSONB,
    BigInt,
    DataType,
    Double,
    Float,
    Integer,
    Numeric,
    SmallInt,
    String,
    Text,
    Timestamp,
    TimestampTZ,
)
from ematix_flow.sqltext.dialect_names import is_mysql
from ematix_flow.sqltext.type_texts import (
    AnyNumeric,
    CoarseTime,
    numeric_in_sqlite,
    read_type,
    same_text,
)

_WHOLE = (SmallInt, Integer, BigInt)
# What SQLite holds as text that may look like a number.
_KEPT_AS_TEXT = (Text, String, Numeric, JSON)


class TypeChange(StrEnum):
    """What turning one type into another does to values."""

    NONE = "none"
    WIDEN = "widen"
    NARROW = "narrow"
    RETYPE = "retype"


def type_change(there: str, wanted: str, dialect: str) -> TypeChange:
    """Return what turning *there* into *wanted* does, both as *dialect* spells them."""
    old, new = read_type(there, dialect), read_type(wanted, dialect)
    if old is None or new is None:
        return TypeChange.NONE if same_text(there, wanted) else TypeChange.RETYPE
    # Such as STRING or DECIMAL(9,2): the names fit, what becomes of the values does not.
    if dialect == "sqlite" and isinstance(new, _KEPT_AS_TEXT) and numeric_in_sqlite(there):
        return TypeChange.RETYPE
    if old == new or _is_reported_for(old, new, dialect):
        return TypeChange.NONE
    if _holds_all_of(new, old):
        return TypeChange.WIDEN
    if _holds_all_of(old, new):
        return TypeChange.NARROW
    return TypeChange.RETYPE


def _is_reported_for(old: DataType, new: DataType, dialect: str) -> bool:
    # MariaDB's JSON is a LONGTEXT, and reported as one. A JSON that is reported is MySQL's, which
    # is no place for text: it rounds numbers and reorders keys.
    return is_mysql(dialect) and isinstance(old, Text) and isinstance(new, JSON | JSONB)


def _holds_all_of(wide: DataType, narrow: DataType) -> bool:
    match narrow, wide:
        case SmallInt() | Integer(), Integer() | BigInt():
            return _WHOLE.index(type(narrow)) < _WHOLE.index(type(wide))
        case Float(), Double():
            return True
        case String(length), String(more):
            return length < more
        case String(), Text():
            return True
        case Numeric(), AnyNumeric():
            return True
        case Numeric(precision, scale), Numeric(more, decimals):
            return decimals >= scale and more - decimals >= precision - scale
        case CoarseTime(decimals, zoned), CoarseTime(more, also_zoned):
            return decimals < more and zoned == also_zoned
        case CoarseTime(_, zoned), Timestamp() | TimestampTZ():
            return zoned == isinstance(wide, TimestampTZ)
        case _:
            return False
