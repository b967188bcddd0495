"""Values as text that sorts like them, as `validate.order_text` has it on Spark."""

from __future__ import annotations

from ematix_flow.spec.cursor import WHOLE_DIGITS, WHOLE_SHIFT, CursorKind
from ematix_flow.spec.types import (
    BigInt,
    DataType,
    Date,
    Integer,
    SmallInt,
    String,
    Text,
    Timestamp,
    TimestampTZ,
)
from ematix_flow.sqltext.in_database.unproven import Unproven

# A function of ours that the SQLite session knows: its integers have 64 bits.
SQLITE_ORDER = "flow_order"

_MIDNIGHT = " 00:00:00.000000"


def cursor_kind(kind: DataType | None, name: str) -> CursorKind:
    """Return what *kind* is as an incremental column, where a database can say its place."""
    match kind:
        case SmallInt() | Integer() | BigInt():
            return CursorKind.INTEGER
        case Date():
            return CursorKind.DATE
        case Timestamp():
            return CursorKind.TIMESTAMP
        case TimestampTZ():
            return CursorKind.TIMESTAMPTZ
        case Text() | String():
            return CursorKind.TEXT
        case _:
            shown = "a type of its own" if kind is None else str(kind)
            raise Unproven(f"only Spark puts rows in order by {name} ({shown})")


def order_text(value: str, kind: DataType | None, name: str, dialect: str) -> str:
    """Return *value*, a column as SQL, as text that sorts like it; NULL where it has no place."""
    found = cursor_kind(kind, name)
    match dialect:
        case "postgres":
            return _in_postgres(value, found)
        case "duckdb":
            return _in_duckdb(value, found)
        case "sqlite":
            return _in_sqlite(value, found)
        case "mysql" | "mariadb":
            return _in_mysql(value, found)
        case _:
            raise Unproven(f"the order of rows is not built in {dialect}")


def _in_postgres(value: str, kind: CursorKind) -> str:
    match kind:
        case CursorKind.INTEGER:
            shifted = f"CAST({value} AS numeric) + {WHOLE_SHIFT}"
            return f"lpad(CAST({shifted} AS text), {WHOLE_DIGITS}, '0')"
        case CursorKind.TEXT:
            return f"encode(convert_to({value}, 'UTF8'), 'hex')"
        case _:
            text = f"to_char(CAST({value} AS timestamp), 'YYYY-MM-DD HH24:MI:SS.US')"
            return f"CASE WHEN {value} >= '0001-01-01' AND {value} < '10000-01-01' THEN {text} END"


def _in_duckdb(value: str, kind: CursorKind) -> str:
    match kind:
        case CursorKind.INTEGER:
            shifted = f"CAST({value} AS HUGEINT) + {WHOLE_SHIFT}"
            return f"lpad(CAST({shifted} AS VARCHAR), {WHOLE_DIGITS}, '0')"
        case CursorKind.TEXT:
            return f"lower(hex({value}))"
        case _:
            wall = f"CAST({value} AS TIMESTAMP)"
            return (
                f"CASE WHEN {wall} >= TIMESTAMP '0001-01-01' AND {wall} < TIMESTAMP '10000-01-01' "
                f"THEN strftime({wall}, '%Y-%m-%d %H:%M:%S.%f') END"
            )


def _in_sqlite(value: str, kind: CursorKind) -> str:
    # Times are canonical text already.
    match kind:
        case CursorKind.DATE:
            return f"({value} || '{_MIDNIGHT}')"
        case CursorKind.TIMESTAMP:
            return value
        case CursorKind.TIMESTAMPTZ:
            return f"rtrim({value}, 'Z')"
        case _:
            return f"{SQLITE_ORDER}({value})"


def _in_mysql(value: str, kind: CursorKind) -> str:
    match kind:
        case CursorKind.INTEGER:
            shifted = f"CAST({value} AS DECIMAL(20,0)) + {WHOLE_SHIFT}"
            return f"LPAD(CAST({shifted} AS CHAR), {WHOLE_DIGITS}, '0')"
        case CursorKind.TEXT:
            return f"LOWER(HEX(CONVERT({value} USING utf8mb4)))"
        case _:
            text = f"DATE_FORMAT({value}, '%Y-%m-%d %H:%i:%s.%f')"
            return f"CASE WHEN YEAR({value}) BETWEEN 1 AND 9999 THEN {text} END"
