"""Values of an incremental column: how far a load has come, kept as text with its type.

Three texts of one value: as it is told (`integer 42`), as staged rows and the ledger keep it,
sorting like the value (`integer:10000000000000000042`), and as a person writes it (`42`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from ematix_flow.spec.duration import duration_text

# What makes a text sort like its value; Spark, the databases and this module write it alike.
WHOLE_SHIFT = 10**19
"""Whole numbers: the value and this..."""
WHOLE_DIGITS = 20
"""... in so many digits."""
DIGITS, COUNTED_DOWN = "0123456789", "9876543210"
"""Decimals below zero have their digits counted down..."""
AFTER_ALL = "~"
"""... and this behind them: of -1 and -1.5, the shorter text comes last."""
EXPONENT_SHIFT = 500
"""Doubles have their exponent, and this, before their digits."""
PART_SEPARATOR = "."
"""What joins the texts of several columns."""

_DOWN = str.maketrans(DIGITS, COUNTED_DOWN)
_TIME = "%Y-%m-%d %H:%M:%S.%f"


class CursorKind(StrEnum):
    """The types that an incremental column can have."""

    INTEGER = "integer"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMPTZ = "timestamptz"
    TEXT = "text"
    DECIMAL = "decimal"
    DOUBLE = "double"

    @property
    def is_time(self) -> bool:
        """Whether it is a day or a time."""
        return self in (CursorKind.DATE, CursorKind.TIMESTAMP, CursorKind.TIMESTAMPTZ)

    @property
    def is_number(self) -> bool:
        """Whether it is a number."""
        return self in (CursorKind.INTEGER, CursorKind.DECIMAL, CursorKind.DOUBLE)


# What Spark calls them.
SPARK_KINDS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), CursorKind.INTEGER),
    "date": CursorKind.DATE,
    "timestamp_ntz": CursorKind.TIMESTAMP,
    "timestamp": CursorKind.TIMESTAMPTZ,
    **dict.fromkeys(("string", "varchar", "char"), CursorKind.TEXT),
    "decimal": CursorKind.DECIMAL,
    **dict.fromkeys(("float", "double"), CursorKind.DOUBLE),
}
# What the sorting text begins with.
TAGS = {name: f"{kind.value}:" for name, kind in SPARK_KINDS.items()}
_TOLD = re.compile(rf"({'|'.join(CursorKind)})([ :])(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Cursor:
    """One value.

    :param value: The canonical text: digits; `2026-03-01`; `2026-03-01 09:15:00.000000`, an
        instant in UTC; text as it is.
    """

    kind: CursorKind
    value: str

    def __str__(self) -> str:
        return f"{self.kind.value} {self.value}"

    @classmethod
    def read(cls, text: str) -> Cursor:
        """Read any of the three texts; only where no type is named is it guessed."""
        if found := _TOLD.fullmatch(text):
            kind, value = CursorKind(found[1]), found[3]
            return _decoded(kind, value) if found[2] == ":" else cls(kind, value)
        if re.fullmatch(r"[+-]?\d+", text):
            return cls(CursorKind.INTEGER, str(int(text)))
        if re.fullmatch(r"[+-]?\d*\.\d+", text):
            return cls(CursorKind.DECIMAL, text)
        if re.match(r"\d{4}-\d{2}-\d{2}", text):
            return _written_time(text)
        return cls(CursorKind.TEXT, text)

    def minus(self, lookback: timedelta | int) -> Cursor:
        """Return the value that lies *lookback* before this one."""
        if isinstance(lookback, timedelta) and self.kind.is_time:
            return Cursor(*_earlier(self, lookback))
        if isinstance(lookback, int) and self.kind.is_number:
            return Cursor(self.kind, str(Decimal(self.value) - lookback))
        if self.kind is CursorKind.TEXT:
            raise ValueError(f"there is nothing to count back from text ({self.value!r})")
        wanted = "a duration ('2h')" if self.kind.is_time else "a whole number"
        article = "an" if self.kind is CursorKind.INTEGER else "a"
        given = duration_text(lookback) if isinstance(lookback, timedelta) else lookback
        raise ValueError(f"{article} {self.kind.value} column takes {wanted}, not {given!r}")

    def compares_with(self, other: Cursor) -> bool:
        """Tell whether both are numbers, times or texts."""
        mine, theirs = self.kind, other.kind
        return mine.is_time == theirs.is_time and mine.is_number == theirs.is_number

    def is_at_most(self, other: Cursor) -> bool:
        """Tell whether this does not lie above *other*; a day is its midnight."""
        if self.kind.is_number and other.kind.is_number:
            return Decimal(self.value) <= Decimal(other.value)
        if self.kind.is_time and other.kind.is_time:
            return self._moment <= other._moment
        return self.value <= other.value

    @property
    def _moment(self) -> datetime:
        return datetime.fromisoformat(self.value)


def is_watermark(text: str) -> bool:
    """Tell whether *text* is one that sorts, as the ledger keeps it."""
    found = _TOLD.fullmatch(text)
    return found is not None and found[2] == ":"


def _decoded(kind: CursorKind, text: str) -> Cursor:
    match kind:
        case CursorKind.INTEGER:
            return Cursor(kind, str(int(text) - WHOLE_SHIFT))
        case CursorKind.DATE:
            return Cursor(kind, text[:10])
        case CursorKind.TIMESTAMP | CursorKind.TIMESTAMPTZ:
            return Cursor(kind, text)
        case CursorKind.TEXT:
            return Cursor(kind, bytes.fromhex(text).decode())
        case CursorKind.DECIMAL | CursorKind.DOUBLE:
            return Cursor(kind, _number(text, with_exponent=kind is CursorKind.DOUBLE))


def _earlier(cursor: Cursor, lookback: timedelta) -> tuple[CursorKind, str]:
    if cursor.kind is CursorKind.DATE:
        days = datetime.fromisoformat(cursor.value)
        # Whole days: a part of one re-reads that day.
        back = timedelta(days=-(-lookback // timedelta(days=1)))
        return cursor.kind, (days - back).date().isoformat()
    at = datetime.strptime(cursor.value, _TIME)  # noqa: DTZ007  # the kind says what zone
    return cursor.kind, (at - lookback).isoformat(sep=" ", timespec="microseconds")


def _number(text: str, *, with_exponent: bool) -> str:
    negative = text[0] == "0"
    digits = text[1:].rstrip(AFTER_ALL).translate(_DOWN) if negative else text[1:]
    exponent = 0
    if with_exponent:
        digits, exponent = digits[3:], int(digits[:3]) - EXPONENT_SHIFT
    value = Decimal(digits)
    if with_exponent and value:
        value = value.scaleb(exponent)
    shown = repr(float(value)) if with_exponent else format(value, "f")
    return f"-{shown}" if negative else shown


def _written_time(text: str) -> Cursor:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return Cursor(CursorKind.TEXT, text)
    if len(text) == len("2026-03-01"):
        return Cursor(CursorKind.DATE, text)
    if at.tzinfo is None:
        return Cursor(CursorKind.TIMESTAMP, at.isoformat(sep=" ", timespec="microseconds"))
    utc = at.astimezone(UTC).replace(tzinfo=None)
    return Cursor(CursorKind.TIMESTAMPTZ, utc.isoformat(sep=" ", timespec="microseconds"))
