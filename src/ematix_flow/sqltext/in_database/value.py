"""A value of the query as a value of the target, where the database loses none of it.

A database assigns generously: 1.6 becomes 2, a text is cut. So each pair of types is here, with
the condition under which a value would not arrive unchanged, or the rows go through Spark.
"""

from __future__ import annotations

from dataclasses import dataclass

from ematix_flow.spec.types import (
    JSONB,
    UUID,
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
    Text,
    Timestamp,
    TimestampTZ,
)
from ematix_flow.sqltext.dialect_names import is_mysql
from ematix_flow.sqltext.in_database.converted import Converted
from ematix_flow.sqltext.in_database.sqlite_value import in_sqlite
from ematix_flow.sqltext.in_database.unproven import Unproven
from ematix_flow.sqltext.type_names import type_name
from ematix_flow.sqltext.type_texts import AnyNumeric, CoarseTime

WHOLE_BITS: dict[type[DataType], int] = {SmallInt: 16, Integer: 32, BigInt: 64}
_DIGITS: dict[type[DataType], int] = {SmallInt: 5, Integer: 10, BigInt: 19}
_TIMES = (Date, Timestamp, TimestampTZ, CoarseTime)
_EXACT_AS: dict[type[DataType], tuple[type[DataType], ...]] = {
    Float: (Float,),
    Double: (Float, Double, SmallInt, Integer),
}
# What is copied as it is; text that only stands for such a value is judged by Spark.
_SAME: dict[str, tuple[type[DataType], ...]] = {
    # Not JSON: it keeps a key twice, which others do not.
    "postgres": (Boolean, Bytes, UUID, JSONB),
    "duckdb": (Boolean, Bytes, UUID),
}


@dataclass(frozen=True, slots=True)
class WideInteger(DataType):
    """A whole number of more than 64 bits, such as DuckDB's sums."""


def converted(
    raw: str, given: DataType | None, kind: DataType, name: str, dialect: str
) -> Converted:
    """Return the column *raw* as *kind*.

    :param given: What the database says that it is.
    :param name: What the column is called in messages.
    """
    if dialect == "sqlite":
        found = in_sqlite(raw, given, kind)
    else:
        found = _typed(raw, given, kind, dialect)
    if found is None:
        shown = "of a type of its own" if given is None else str(given)
        raise Unproven(f"{name} is {shown} in the query and declared {kind}, which Spark converts")
    return found


def _typed(raw: str, given: DataType | None, kind: DataType, dialect: str) -> Converted | None:
    match kind:
        case Text() | String():
            same = isinstance(given, Text | String)
            return Converted(_text(raw, kind, dialect)) if same else None
        case SmallInt() | Integer() | BigInt():
            return _whole(raw, given, kind, dialect)
        case Numeric():
            return _decimal(raw, given, kind, dialect)
        case Float() | Double():
            return _real(raw, given, kind, dialect)
        case Boolean() if is_mysql(dialect) and given == kind:
            # Its BOOLEAN is a small number, and holds others too.
            return Converted(raw, f"{raw} NOT IN (0, 1)")
        case Date() | Timestamp() | TimestampTZ():
            return _time(raw, given, kind, dialect)
        case _:
            same = given == kind and isinstance(kind, _SAME.get(dialect, (Boolean, Bytes)))
            return Converted(raw) if same else None


def _text(raw: str, kind: Text | String, dialect: str) -> str:
    if dialect == "postgres":
        # A column's own collation would not meet that of the target; as VARCHAR(n) it were cut.
        return f'CAST({raw} AS TEXT) COLLATE "default"'
    if dialect == "duckdb":
        # The staged column would keep that of the query's.
        return f'{raw} COLLATE "C"'
    if is_mysql(dialect) and isinstance(kind, String):
        # A longer one is told by its rule; the staged column would not take it.
        return f"CASE WHEN CHAR_LENGTH({raw}) <= {kind.length} THEN {raw} END"
    return raw


def _cast(raw: str, kind: DataType, dialect: str) -> str:
    if is_mysql(dialect):
        return raw  # the staged column has the type
    return f"CAST({raw} AS {type_name(kind, dialect)})"


def _whole(raw: str, given: DataType | None, kind: DataType, dialect: str) -> Converted | None:
    most = 2 ** (WHOLE_BITS[type(kind)] - 1)
    in_range = f"{raw} BETWEEN {-most} AND {most - 1}"
    match given:
        case SmallInt() | Integer() | BigInt() if WHOLE_BITS[type(given)] <= WHOLE_BITS[type(kind)]:
            return Converted(_cast(raw, kind, dialect))
        case SmallInt() | Integer() | BigInt() | WideInteger() | Numeric(_, 0):
            return _checked(raw, in_range, kind, dialect)
        case Numeric() | AnyNumeric() if dialect == "postgres":
            return _checked(raw, f"{in_range} AND {raw} = trunc({raw})", kind, dialect)
        case _:
            return None


def _decimal(raw: str, given: DataType | None, kind: Numeric, dialect: str) -> Converted | None:
    whole = kind.precision - kind.scale
    below = f"abs({raw}) < 1{'0' * whole}"
    match given:
        case SmallInt() | Integer() | BigInt() if _DIGITS[type(given)] <= whole:
            return Converted(_cast(raw, kind, dialect))
        case Numeric(precision, scale) if scale <= kind.scale:
            if precision - scale > whole:
                return _checked(raw, below, kind, dialect)
            if dialect == "postgres":
                # The one value of PostgreSQL's decimals that no engine's has.
                return Converted(_cast(raw, kind, dialect), f"{raw} = 'NaN'")
            return Converted(_cast(raw, kind, dialect))
        case Numeric() | AnyNumeric() if dialect == "postgres":
            return _checked(raw, f"{below} AND {raw} = round({raw}, {kind.scale})", kind, dialect)
        case _:
            return None


def _real(raw: str, given: DataType | None, kind: DataType, dialect: str) -> Converted | None:
    if is_mysql(dialect) and isinstance(given, Float):
        return None  # its digits are others once they have been read
    exact = isinstance(given, _EXACT_AS[type(kind)])
    return Converted(_cast(raw, kind, dialect)) if exact else None


def _time(raw: str, given: DataType | None, kind: DataType, dialect: str) -> Converted | None:
    # Of a time as a day, the time of day would go.
    if not isinstance(given, Date if isinstance(kind, Date) else _TIMES):
        return None
    if is_mysql(dialect):
        return Converted(raw)
    # Our sessions' zone is UTC, as Spark's is.
    return Converted(_cast(raw, kind, dialect), f"NOT isfinite({raw})")


def _checked(raw: str, fits: str, kind: DataType, dialect: str) -> Converted:
    value = f"CASE WHEN {fits} THEN {_cast(raw, kind, dialect)} END"
    return Converted(value, f"NOT ({fits})")
