"""Where, beside Spark, each marker was proven to mean the same.

A line here is a claim that `tests/unit/sqltext/test_markers.py` exercises with the inputs
that Spark gets. What is not listed forces the Spark path:

- `lower`, `upper`: SQLite changes ASCII letters only, DuckDB knows no special cases such as
  ß, PostgreSQL asks the database's locale.
- patterns: Java's are not RE2's, not POSIX's, and SQLite has none.
- times: PostgreSQL has no TRY_CAST, and zones are resolved by each engine in its own way.
- `sql` and `derive` are the user's Spark SQL.
"""

from __future__ import annotations

from ematix_flow.spec.normalize.marker import Marker
from ematix_flow.spec.normalize.number import Clamp, ParseInt, ParseNumeric, Round
from ematix_flow.spec.normalize.phone import PhoneNormalize
from ematix_flow.spec.normalize.text import (
    EmptyToNull,
    Replace,
    Trim,
    Truncate,
    WhitespaceToNull,
)
from ematix_flow.spec.normalize.time import DateTrunc, ParseDate, ParseTimestamp
from ematix_flow.spec.normalize.value import Default, NotNullOr, NullIf, ParseBool
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import Date, Numeric, Timestamp, TimestampTZ

_EVERYWHERE = frozenset({"duckdb", "postgres", "sqlite"})
_WITH_PATTERNS = frozenset({"duckdb", "postgres"})
_NOWHERE: frozenset[str] = frozenset()
_TEXT_IN_SQLITE = (Numeric, Date, Timestamp, TimestampTZ)

PROVEN: dict[type[Marker], frozenset[str]] = {
    Trim: _EVERYWHERE,
    EmptyToNull: _EVERYWHERE,
    WhitespaceToNull: _EVERYWHERE,
    Replace: _EVERYWHERE,
    Truncate: _WITH_PATTERNS,  # to SQLite, text ends at a NUL
    ParseBool: _EVERYWHERE,
    Default: _EVERYWHERE,
    NullIf: _EVERYWHERE,
    NotNullOr: _EVERYWHERE,
    Clamp: _EVERYWHERE,
    PhoneNormalize: _WITH_PATTERNS,
    ParseInt: _WITH_PATTERNS,
    ParseNumeric: _WITH_PATTERNS,
    Round: _WITH_PATTERNS,
    ParseDate: frozenset({"duckdb"}),
    ParseTimestamp: frozenset({"duckdb"}),
    DateTrunc: frozenset({"duckdb"}),
}


def needs_spark(table: Table, dialect: str) -> str | None:
    """Return why the markers of *table* cannot run in *dialect*; None where they can."""
    for column in table.columns:
        if column.markers and dialect == "sqlite" and isinstance(column.type, _TEXT_IN_SQLITE):
            return (
                f"sqlite keeps {column.name} ({column.type}) as text, which markers do not expect"
            )
        for number, marker in enumerate(column.markers):
            if dialect not in _proven(marker, column.markers[:number]):
                return f"{marker} on {column.name} is not proven to mean the same in {dialect}"
    return None


def _proven(marker: Marker, before: tuple[Marker, ...]) -> frozenset[str]:
    claimed = PROVEN.get(type(marker), _NOWHERE)
    match marker:
        case Round(half=half):
            # Of a float nobody rounds alike; what was parsed is exact.
            exact = any(isinstance(each, ParseInt | ParseNumeric) for each in before)
            return claimed if exact and half == "up" else _NOWHERE
        case ParseTimestamp(zone=zone):
            return claimed if zone in (None, "UTC") else _NOWHERE
        case DateTrunc():
            is_day = any(isinstance(each, ParseDate) for each in before)
            is_clock = any(
                isinstance(each, ParseTimestamp) and not each.is_instant for each in before
            )
            return claimed if is_day or is_clock else _NOWHERE
        case _:
            return claimed


def describe(column: Column) -> str:
    """Return the markers of a column as the user wrote them, in order."""
    return ", ".join(str(marker) for marker in column.markers)
