"""Values of SQLite, which holds anything in any column: each is asked what it is."""

from __future__ import annotations

from ematix_flow.spec.types import (
    BigInt,
    Boolean,
    Bytes,
    DataType,
    Date,
    Double,
    Integer,
    Numeric,
    SmallInt,
    String,
    Text,
    Timestamp,
    TimestampTZ,
)
from ematix_flow.sqltext.in_database.converted import Converted

# Functions of ours that the SQLite session knows: canonical text of what SQLite has no type for,
# and the length of a text, which SQLite ends at a NUL.
SQLITE_STORED = "flow_stored"
SQLITE_LENGTH = "flow_length"

_BITS = {SmallInt: 16, Integer: 32}
# Above it a double skips whole numbers.
_EXACT = 2**53
_MIDNIGHT = " 00:00:00.000000"


def in_sqlite(raw: str, given: DataType | None, kind: DataType) -> Converted | None:
    """Return a column as a value of *kind* and when it is none; None where Spark has to tell."""
    match given, kind:
        case BigInt(), SmallInt() | Integer() | BigInt():
            fits = f"typeof({raw}) = 'integer'"
            if bits := _BITS.get(type(kind)):
                fits += f" AND {raw} BETWEEN {-(2 ** (bits - 1))} AND {2 ** (bits - 1) - 1}"
            return Converted(raw, _unless(fits, raw))
        case BigInt() | Double(), Double():
            whole = f"typeof({raw}) = 'integer' AND {raw} BETWEEN {-_EXACT} AND {_EXACT}"
            fits = f"typeof({raw}) = 'real' OR ({whole})"
            return Converted(f"CAST({raw} AS REAL)", _unless(fits, raw))
        case Boolean(), Boolean():
            return Converted(raw, _unless(f"typeof({raw}) = 'integer' AND {raw} IN (0, 1)", raw))
        case Text(), Text() | String():
            return Converted(raw, _unless(f"typeof({raw}) = 'text'", raw))
        case Bytes(), Bytes():
            return Converted(raw, _unless(f"typeof({raw}) = 'blob'", raw))
        case Numeric(precision, scale), Numeric():
            held = f"{SQLITE_STORED}({raw}, 'numeric', {precision}, {scale})"
            value = f"{SQLITE_STORED}({held}, 'numeric', {kind.precision}, {kind.scale})"
            return Converted(value, f"{raw} IS NOT NULL AND {value} IS NULL")
        case Date() | Timestamp() | TimestampTZ(), Date() | Timestamp() | TimestampTZ():
            return _time(raw, given, kind)
        case _:
            return None


def _time(raw: str, given: DataType, kind: DataType) -> Converted | None:
    if isinstance(kind, Date) and not isinstance(given, Date):
        return None  # the time of day would go
    held = f"{SQLITE_STORED}({raw}, '{type(given).__name__.lower()}')"
    return Converted(moved(held, given, kind), f"{raw} IS NOT NULL AND {held} IS NULL")


def moved(text: str, given: DataType, kind: DataType) -> str:
    """Return canonical text of one kind of time as that of another."""
    match given, kind:
        case Date(), Timestamp():
            return f"({text} || '{_MIDNIGHT}')"
        case Date(), TimestampTZ():
            return f"({text} || '{_MIDNIGHT}Z')"
        case Timestamp(), TimestampTZ():
            return f"({text} || 'Z')"
        case TimestampTZ(), Timestamp():
            return f"rtrim({text}, 'Z')"
        case _:
            return text


def _unless(fits: str, raw: str) -> str:
    return f"{raw} IS NOT NULL AND NOT ({fits})"
