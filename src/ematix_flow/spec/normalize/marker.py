"""What every marker is: one cleaning step of one column."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from decimal import Decimal
from math import isnan
from typing import ClassVar, Literal, NoReturn, TypeGuard, get_args

from ematix_flow._base.location import caller_location
from ematix_flow._base.suggest import did_you_mean
from ematix_flow.errors import DeclarationError
from ematix_flow.spec.normalize.family import EVERY, Family

OnFailure = Literal["fail", "null", "quarantine"]
POLICIES: tuple[OnFailure, ...] = get_args(OnFailure)


@dataclass(frozen=True, slots=True)
class Marker:
    """One cleaning step. Its fields are what the user wrote; what it does is in `sqltext`."""

    called: ClassVar[str]
    """The name users call it by."""

    @property
    def takes(self) -> frozenset[Family]:
        """The kinds of values it can work on."""
        return EVERY

    def gives(self, families: frozenset[Family]) -> frozenset[Family]:
        """Return the kinds of values it makes of values of *families*."""
        return families

    @property
    def converts(self) -> bool:
        """Whether it makes another kind of value, so that what comes before it is not judged."""
        return False

    def __str__(self) -> str:
        shown = []
        # What to do about failures comes last, as users write it.
        for each in sorted(fields(self), key=lambda each: each.kw_only is True):
            value = getattr(self, each.name)
            if each.default is MISSING:
                shown.append(repr(value))
            elif value != each.default:
                shown.append(f"{each.name}={value!r}")
        return f"{self.called}({', '.join(shown)})"


@dataclass(frozen=True, slots=True)
class Fallible(Marker):
    """A marker that cannot make something of every value."""

    on_failure: OnFailure = field(default="fail", kw_only=True)
    default: object = field(default=None, kw_only=True)

    @property
    def expected(self) -> str:
        """What it could have made something of."""
        raise NotImplementedError

    @property
    def reports(self) -> bool:
        """Whether a value it can make nothing of is a fault of the row."""
        return self.on_failure != "null" and self.default is None


def refuse(what: str, *, hint: str | None = None) -> NoReturn:
    """Refuse a marker's argument, at the user's line."""
    where = caller_location()
    # A postponed annotation has no file; the table that evaluates it adds its own line.
    known = None if where.file.startswith("<") else where
    raise DeclarationError(what, where=known, hint=hint)


def choice(marker: str, argument: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse *value* unless it is one of *allowed*."""
    if value in allowed:
        return
    meant = did_you_mean(value, allowed)
    refuse(f"{marker}: {argument}={value!r} is not known{meant} (known: {', '.join(allowed)})")


def is_whole(value: object) -> TypeGuard[int]:
    """Tell whether *value* is an int and not, as to Python, also a bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_nan(value: object) -> bool:
    """Tell whether *value* is no number, though of a number's type."""
    if isinstance(value, Decimal):
        return value.is_nan()  # to compare it would fail
    return isinstance(value, float) and isnan(value)


def policy(marker: str, on_failure: object, default: object) -> None:
    """Check what a fallible marker shall do about a value it can make nothing of."""
    choice(marker, "on_failure", on_failure, POLICIES)
    if default is not None and on_failure != "fail":
        refuse(
            f"{marker}: default={default!r} and on_failure={on_failure!r} exclude each other",
            hint="with a default nothing fails; for a NULL value too, add the marker default(...)",
        )
