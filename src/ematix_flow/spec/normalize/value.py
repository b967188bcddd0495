"""Markers for values of any kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import ClassVar

from ematix_flow.spec.normalize.family import BOOLEAN, TEXT, Family, family_of_value
from ematix_flow.spec.normalize.marker import Fallible, Marker, OnFailure, is_nan, policy, refuse

Value = str | bool | int | float | Decimal | date | datetime
_TRUE = ("true", "t", "yes", "y", "on", "1")
_FALSE = ("false", "f", "no", "n", "off", "0")


@dataclass(frozen=True, slots=True)
class ParseBool(Fallible):
    """What `parse_bool()` makes."""

    called: ClassVar[str] = "parse_bool"
    true: tuple[str, ...] = _TRUE
    false: tuple[str, ...] = _FALSE

    @property
    def takes(self) -> frozenset[Family]:
        """Text alone."""
        return TEXT

    def gives(self, families: frozenset[Family]) -> frozenset[Family]:
        """True or false."""
        del families
        return BOOLEAN

    @property
    def converts(self) -> bool:
        """It does."""
        return True

    @property
    def expected(self) -> str:
        """The words it knows."""
        return f"one of {', '.join((*self.true, *self.false))}"


@dataclass(frozen=True, slots=True)
class Default(Marker):
    """What `default()` makes."""

    called: ClassVar[str] = "default"
    value: Value

    @property
    def takes(self) -> frozenset[Family]:
        """What the value itself is."""
        return _family(self.value)


@dataclass(frozen=True, slots=True)
class NullIf(Marker):
    """What `nullif()` makes."""

    called: ClassVar[str] = "nullif"
    values: tuple[Value, ...]

    @property
    def takes(self) -> frozenset[Family]:
        """What the values themselves are."""
        return _family(self.values[0])

    def __str__(self) -> str:
        return f"nullif({', '.join(repr(value) for value in self.values)})"


@dataclass(frozen=True, slots=True)
class NotNullOr(Marker):
    """What `not_null_or()` makes."""

    called: ClassVar[str] = "not_null_or"
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"not_null_or({', '.join(repr(column) for column in self.columns)})"


def parse_bool(
    *,
    true: Iterable[str] = _TRUE,
    false: Iterable[str] = _FALSE,
    on_failure: OnFailure = "fail",
    default: bool | None = None,
) -> Marker:
    """Read true or false from words, as written here, in lower case, UPPER CASE or Capitalised."""
    policy("parse_bool", on_failure, default)
    words = {"true": _words("true", true), "false": _words("false", false)}
    both = {each.lower() for each in words["true"]} & {each.lower() for each in words["false"]}
    if both:
        refuse(f"parse_bool: {min(both)!r} cannot mean both true and false")
    if default is not None and not isinstance(default, bool):
        refuse(f"parse_bool: default takes True or False, not {default!r}")
    return ParseBool(words["true"], words["false"], on_failure=on_failure, default=default)


def default(value: Value) -> Marker:
    """Put *value* where there is NULL."""
    _check_value("default", value)
    return Default(value)


def nullif(*values: Value) -> Marker:
    """Make a value NULL that equals one of *values*."""
    if not values:
        refuse("nullif() needs at least one value", hint="nullif('N/A')")
    for value in values:
        _check_value("nullif", value)
    if len({family_of_value(value) for value in values}) > 1:
        refuse(f"nullif: {', '.join(map(repr, values))} are not of one kind")
    return NullIf(values)


def not_null_or(*columns: str) -> Marker:
    """Take, where there is NULL, the first of these columns of the row that is not NULL."""
    if not columns or not all(_is_name(column) for column in columns):
        refuse(
            f"not_null_or takes names of columns, not {', '.join(map(repr, columns)) or 'nothing'}",
            hint="for a fixed value use default(...)",
        )
    return NotNullOr(columns)


def _is_name(column: object) -> bool:
    return isinstance(column, str) and bool(column)


def _words(name: str, words: object) -> tuple[str, ...]:
    if isinstance(words, str) or not isinstance(words, Iterable):
        refuse(f"parse_bool: {name} takes a list of words, not {words!r}")
    found = tuple(words)
    for word in found:
        if not isinstance(word, str) or not word or word != word.strip():
            refuse(f"parse_bool: {name} takes words without white space around, not {word!r}")
    if not found:
        refuse(f"parse_bool: {name} names no word")
    return found


def _check_value(marker: str, value: object) -> None:
    if family_of_value(value) is None:
        refuse(
            f"{marker} takes text, a number, True, False, a date or a datetime, not {value!r}",
            hint='for an expression use sql("...")' if callable(value) else None,
        )
    if is_nan(value):
        refuse(f"{marker}: NaN equals nothing, not even itself")


def _family(value: Value) -> frozenset[Family]:
    family = family_of_value(value)
    assert family is not None
    return frozenset({family})
