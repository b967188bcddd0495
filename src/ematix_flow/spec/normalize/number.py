"""Markers that make numbers, and markers for numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import ClassVar, Literal

from ematix_flow.spec.normalize.family import NUMBER, TEXT, Family, family_of_value
from ematix_flow.spec.normalize.marker import (
    Fallible,
    Marker,
    OnFailure,
    choice,
    is_nan,
    is_whole,
    policy,
    refuse,
)

_SEPARATORS = (",", ".", "'", "_", " ", "\xa0", "\u202f", "\u2019")
_MOST_DIGITS = 37


@dataclass(frozen=True, slots=True)
class NumberParser(Fallible):
    """A marker that reads a number from text."""

    thousands: str | None = None

    @property
    def takes(self) -> frozenset[Family]:
        """Text alone."""
        return TEXT

    def gives(self, families: frozenset[Family]) -> frozenset[Family]:
        """Numbers."""
        del families
        return NUMBER

    @property
    def converts(self) -> bool:
        """It does."""
        return True


@dataclass(frozen=True, slots=True)
class ParseInt(NumberParser):
    """What `parse_int()` makes."""

    called: ClassVar[str] = "parse_int"

    @property
    def expected(self) -> str:
        """What counts as a whole number."""
        return "a whole number of 64 bits"


@dataclass(frozen=True, slots=True)
class ParseNumeric(NumberParser):
    """What `parse_numeric()` makes."""

    called: ClassVar[str] = "parse_numeric"
    decimal: str = "."

    @property
    def expected(self) -> str:
        """What counts as a number."""
        return "a decimal number that 38 digits hold"


@dataclass(frozen=True, slots=True)
class Round(Marker):
    """What `round()` makes."""

    called: ClassVar[str] = "round"
    digits: int = 0
    half: Literal["up", "even"] = "up"

    @property
    def takes(self) -> frozenset[Family]:
        """Numbers."""
        return NUMBER


Bound = int | float | Decimal | date | datetime


@dataclass(frozen=True, slots=True)
class Clamp(Marker):
    """What `clamp()` makes."""

    called: ClassVar[str] = "clamp"
    min: Bound | None = None
    max: Bound | None = None

    @property
    def takes(self) -> frozenset[Family]:
        """Whatever the bounds are."""
        family = family_of_value(self.min if self.min is not None else self.max)
        assert family is not None
        return frozenset({family})


def parse_int(
    *, thousands: str | None = None, on_failure: OnFailure = "fail", default: int | None = None
) -> Marker:
    """Read a whole number: digits, a sign, white space around.

    :param thousands: A character that may stand between groups of three digits.
    """
    policy("parse_int", on_failure, default)
    _check_thousands("parse_int", thousands)
    if default is not None and not is_whole(default):
        refuse(f"parse_int: default takes a whole number, not {default!r}")
    if default is not None and not -(2**63) <= default < 2**63:
        refuse(f"parse_int: default={default!r} does not fit 64 bits")
    return ParseInt(thousands, on_failure=on_failure, default=default)


def parse_numeric(
    *,
    thousands: str | None = None,
    decimal: str = ".",
    on_failure: OnFailure = "fail",
    default: int | Decimal | None = None,
) -> Marker:
    """Read a decimal number exactly: digits, a sign, decimals, white space around.

    :param thousands: A character that may stand between groups of three digits.
    :param decimal: The character before the decimals.
    """
    policy("parse_numeric", on_failure, default)
    _check_thousands("parse_numeric", thousands)
    choice("parse_numeric", "decimal", decimal, (".", ","))
    if thousands == decimal:
        refuse(
            f"parse_numeric: {decimal!r} cannot be both the thousands and the decimal character",
            hint="1.234,50 is read with thousands='.', decimal=','",
        )
    if default is not None and not is_whole(default) and not isinstance(default, Decimal):
        refuse(
            f"parse_numeric: default takes an int or a Decimal, not {default!r}",
            hint="a float is not exact; write Decimal('0.1')",
        )
    return ParseNumeric(thousands, decimal, on_failure=on_failure, default=default)


def round(digits: int = 0, *, half: Literal["up", "even"] = "up") -> Marker:  # noqa: A001  # the name users know
    """Round a number to *digits* decimals.

    :param half: In the middle between two: `"up"` goes away from zero, `"even"` to the even digit.
    """
    if not is_whole(digits) or not 0 <= digits <= _MOST_DIGITS:
        refuse(f"round takes 0 to {_MOST_DIGITS} digits, not {digits!r}")
    choice("round", "half", half, ("up", "even"))
    return Round(digits, half)


def clamp(min: Bound | None = None, max: Bound | None = None) -> Marker:  # noqa: A002  # the names users know
    """Move what is below *min* to *min* and what is above *max* to *max*; NULL stays NULL."""
    bounds = [bound for bound in (min, max) if bound is not None]
    if not bounds:
        refuse("clamp() needs min, max or both")
    families = {family_of_value(bound) for bound in bounds}
    if not families <= _ORDERED:
        refuse(f"clamp takes numbers, dates or datetimes, not {bounds[0]!r}")
    if len(families) > 1:
        refuse(f"clamp: min={min!r} and max={max!r} are not of one kind")
    if any(is_nan(bound) for bound in bounds):
        refuse("clamp: NaN bounds nothing")
    if len(bounds) == 2 and min > max:  # type: ignore[operator]  # of one kind
        refuse(f"clamp: min={min!r} is above max={max!r}", hint="swap them")
    return Clamp(min, max)


_ORDERED = {Family.NUMBER, Family.DATE, Family.WALL_CLOCK, Family.INSTANT}


def _check_thousands(marker: str, thousands: object) -> None:
    if thousands is not None and thousands not in _SEPARATORS:
        refuse(
            f"{marker}: thousands={thousands!r} is not known "
            f"(known: {', '.join(repr(each) for each in _SEPARATORS)})"
        )
