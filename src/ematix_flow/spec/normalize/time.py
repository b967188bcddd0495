"""Markers for dates and times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import ClassVar, Literal, get_args

from ematix_flow._base.suggest import did_you_mean
from ematix_flow._base.zones import is_zone, zone_names
from ematix_flow.spec.normalize.family import (
    DATE,
    INSTANT,
    TEXT,
    WALL_CLOCK,
    Family,
    family_of_value,
)
from ematix_flow.spec.normalize.marker import Fallible, Marker, OnFailure, choice, policy, refuse
from ematix_flow.spec.normalize.time_format import TimeFormat

Unit = Literal["year", "quarter", "month", "week", "day", "hour", "minute", "second"]
UNITS: tuple[Unit, ...] = get_args(Unit)
_OF_A_DAY = ("hour", "minute", "second")


@dataclass(frozen=True, slots=True)
class TimeParser(Fallible):
    """A marker that reads a date or time from text; formats are tried in order."""

    formats: tuple[str, ...]

    @property
    def takes(self) -> frozenset[Family]:
        """Text alone."""
        return TEXT

    @property
    def converts(self) -> bool:
        """It does."""
        return True

    @property
    def parsed_formats(self) -> tuple[TimeFormat, ...]:
        """The formats, read."""
        return tuple(TimeFormat.read(each) for each in self.formats)

    def __str__(self) -> str:
        shown = [repr(each) for each in self.formats]
        options = {"on_failure": "fail", "default": None, "zone": None}
        for name, usual in options.items():
            value = getattr(self, name, usual)
            if value != usual:
                shown.append(f"{name}={value!r}")
        return f"{self.called}({', '.join(shown)})"


@dataclass(frozen=True, slots=True)
class ParseDate(TimeParser):
    """What `parse_date()` makes."""

    called: ClassVar[str] = "parse_date"

    def gives(self, families: frozenset[Family]) -> frozenset[Family]:
        """Dates."""
        del families
        return DATE

    @property
    def expected(self) -> str:
        """The formats."""
        return f"a date like {' or '.join(self.formats)}"


@dataclass(frozen=True, slots=True)
class ParseTimestamp(TimeParser):
    """What `parse_timestamp()` makes."""

    called: ClassVar[str] = "parse_timestamp"
    zone: str | None = None

    @property
    def is_instant(self) -> bool:
        """Whether the zone is known: from the text or because it is named."""
        return self.zone is not None or any(each.has("z") for each in self.parsed_formats)

    def gives(self, families: frozenset[Family]) -> frozenset[Family]:
        """Instants where the zone is known, else wall-clock times."""
        del families
        return INSTANT if self.is_instant else WALL_CLOCK

    @property
    def expected(self) -> str:
        """The formats, and the zone's own gaps."""
        like = f"a time like {' or '.join(self.formats)}"
        return f"{like} that {self.zone} has" if self.zone not in (None, "UTC") else like


@dataclass(frozen=True, slots=True)
class ToTimezone(Marker):
    """What `to_timezone()` makes."""

    called: ClassVar[str] = "to_timezone"
    zone: str

    @property
    def takes(self) -> frozenset[Family]:
        """Instants, and wall-clock times of UTC."""
        return INSTANT | WALL_CLOCK

    def gives(self, families: frozenset[Family]) -> frozenset[Family]:
        """What clocks in the zone show."""
        del families
        return WALL_CLOCK

    @property
    def converts(self) -> bool:
        """It does."""
        return True


@dataclass(frozen=True, slots=True)
class DateTrunc(Marker):
    """What `date_trunc()` makes."""

    called: ClassVar[str] = "date_trunc"
    unit: Unit
    zone: str | None = None

    @property
    def takes(self) -> frozenset[Family]:
        """Times; dates where the unit is not smaller than a day."""
        if self.zone is not None:
            return INSTANT
        times = INSTANT | WALL_CLOCK
        return times if self.unit in _OF_A_DAY else times | DATE


def parse_date(
    format: str | None = None,  # noqa: A002  # the name users know
    *,
    formats: Sequence[str] = (),
    on_failure: OnFailure = "fail",
    default: date | None = None,
) -> Marker:
    """Read a date by a format like `%d.%m.%Y`, or by the first of several that fits."""
    policy("parse_date", on_failure, default)
    found = _formats("parse_date", format, formats)
    for each in found:
        if each.times:
            refuse(
                f"parse_date: {each.text!r} reads a time of day, which a date cannot keep",
                hint="use parse_timestamp",
            )
    if default is not None and family_of_value(default) is not Family.DATE:
        refuse(f"parse_date: default takes a date, not {default!r}")
    texts = tuple(each.text for each in found)
    return ParseDate(texts, on_failure=on_failure, default=default)


def parse_timestamp(
    format: str | None = None,  # noqa: A002  # the name users know
    *,
    formats: Sequence[str] = (),
    zone: str | None = None,
    on_failure: OnFailure = "fail",
    default: datetime | None = None,
) -> Marker:
    """Read a date and time by a format, or by the first of several that fits.

    :param zone: Whose clocks show the times that come without an offset (`%z`), as `"UTC"` or
        `"Europe/Berlin"`; a time that the zone skips is a failure, of two equal ones it is the
        first.
    """
    policy("parse_timestamp", on_failure, default)
    found = _formats("parse_timestamp", format, formats)
    if zone is not None:
        _check_zone("parse_timestamp", zone)
    without = [each.text for each in found if not each.has("z")]
    if zone is None and without and len(without) < len(found):
        refuse(
            f"parse_timestamp: {without[0]!r} has no offset, but other formats have",
            hint='name the zone of such times: zone="UTC"',
        )
    texts = tuple(each.text for each in found)
    marker = ParseTimestamp(texts, zone, on_failure=on_failure, default=default)
    if default is not None:
        if not isinstance(default, datetime):
            refuse(f"parse_timestamp: default takes a datetime, not {default!r}")
        if (default.tzinfo is not None) != marker.is_instant:
            kind = "with" if marker.is_instant else "without"
            refuse(f"parse_timestamp: default takes a datetime {kind} tzinfo, not {default!r}")
    return marker


def to_timezone(zone: str) -> Marker:
    """Show what clocks in *zone* show at an instant; a time without a zone counts as UTC."""
    _check_zone("to_timezone", zone)
    return ToTimezone(zone)


def date_trunc(unit: Unit, *, zone: str | None = None) -> Marker:
    """Go back to the start of the year, quarter, month, week (Monday), day, hour ...

    :param zone: For instants: whose days, weeks and months they are; UTC unless named.
    """
    choice("date_trunc", "unit", unit, UNITS)
    if zone is not None:
        _check_zone("date_trunc", zone)
        if unit in _OF_A_DAY:
            refuse(
                f"date_trunc({unit!r}) takes no zone: where clocks go back an hour comes twice",
                hint="leave the zone out",
            )
    return DateTrunc(unit, zone)


def _formats(marker: str, format: object, formats: object) -> tuple[TimeFormat, ...]:  # noqa: A002
    if (format is None) == (not formats):
        refuse(
            f"{marker} takes a format or formats=[...], and not both",
            hint=f'{marker}("%Y-%m-%d{"" if marker == "parse_date" else " %H:%M:%S"}")',
        )
    texts = [format] if format is not None else formats
    if isinstance(texts, str) or not isinstance(texts, list | tuple):
        refuse(f"{marker}: formats takes a list of formats, not {texts!r}")
    found = []
    for text in texts:
        if not isinstance(text, str):
            refuse(f"{marker}: a format is text, not {text!r}")
        try:
            found.append(TimeFormat.read(text))
        except ValueError as error:
            refuse(f"{marker}({text!r}): {error}")
    return tuple(found)


def _check_zone(marker: str, zone: object) -> None:
    if not is_zone(zone):
        refuse(
            f"{marker}: {zone!r} is not a time zone" + did_you_mean(zone, zone_names()),
            hint='zones are named as in the IANA database: "UTC", "Europe/Berlin"',
        )
