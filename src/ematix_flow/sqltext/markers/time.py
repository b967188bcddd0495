"""Time markers as expressions.

Text is first brought into the one form that every engine reads alike, field by field, and
only then converted: the engines' own format languages differ and forgive too much. No step
depends on the session's time zone.
"""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.spec.normalize.family import Family
from ematix_flow.spec.normalize.time import DateTrunc, ParseDate, ParseTimestamp, ToTimezone
from ematix_flow.sqltext.markers.nodes import (
    Node,
    Template,
    call,
    case,
    cast,
    concat,
    number,
    stripped,
    substring,
    text,
    try_cast,
)
from ematix_flow.sqltext.markers.time_text import day_of, moment_of

_UTC = "UTC"
_WALL = "timestampntz"
_INSTANT = "timestamptz"
# 2026-03-01 08:00:00.000000: what is longer has an offset.
_WITHOUT_OFFSET = 26
# How much of the text stays, and what replaces the rest.
_CUTS = {"hour": (13, ":00:00"), "minute": (16, ":00"), "second": (19, "")}


def parse_date_templates(marker: ParseDate) -> tuple[Template, ...]:
    """Return the steps from text to a date; NULL where no format fits or there is no such day."""
    formats = marker.parsed_formats
    return (
        stripped,
        lambda value: _first([day_of(value, each) for each in formats]),
        lambda value: _from_year_one(value, try_cast(value, "date")),
    )


def parse_timestamp_templates(marker: ParseTimestamp) -> tuple[Template, ...]:
    """Return the steps from text to a moment; NULL where no format fits or no clock shows it."""
    formats, zone = marker.parsed_formats, marker.zone
    suffix = "+00:00" if zone == _UTC else ""
    steps: list[Template] = [
        stripped,
        lambda value: _first([moment_of(value, each, suffix) for each in formats]),
    ]
    if not marker.is_instant:
        return (*steps, lambda value: _from_year_one(value, try_cast(value, _WALL)))
    if zone in (None, _UTC):
        return (*steps, lambda value: _from_year_one(value, try_cast(value, _INSTANT)))

    def in_utc(value: Node) -> Node:
        local = try_cast(value, _WALL)
        has_offset = exp.GT(this=exp.Length(this=value), expression=number(_WITHOUT_OFFSET))
        there = _converted(local, zone, _UTC)
        # Where clocks go forward they skip times; coming back from UTC shows which.
        is_shown = exp.EQ(this=_converted(there, _UTC, zone), expression=local)
        with_offset = case((is_shown, concat(cast(there, "text"), text("+00:00"))))
        return _from_year_one(value, case((has_offset, value), otherwise=with_offset))

    return (*steps, in_utc, lambda value: try_cast(value, _INSTANT))


def to_timezone_templates(marker: ToTimezone, family: Family) -> tuple[Template, ...]:
    """Return the steps from an instant, or UTC's wall clock, to the wall clock of a zone."""
    zone = marker.zone
    shown = () if zone == _UTC else (lambda value: _converted(value, _UTC, zone),)
    return (*((_wall_of_utc,) if family is Family.INSTANT else ()), *shown)


def date_trunc_templates(marker: DateTrunc, family: Family) -> tuple[Template, ...]:
    """Return the steps to the start of the unit."""
    unit, zone = marker.unit, marker.zone or _UTC
    match family:
        case Family.DATE:
            return (lambda value: _start_of(value, unit),)
        case Family.WALL_CLOCK:
            return (lambda value: _start_on_clock(value, unit),)
        case _:
            steps: list[Template] = [_wall_of_utc]
            if zone != _UTC:
                steps.append(lambda value: _converted(value, _UTC, zone))
            steps.append(lambda value: _start_on_clock(value, unit))
            if zone != _UTC:
                # A start that the zone skips becomes the first moment after it.
                steps.append(lambda value: _converted(value, zone, _UTC))
            steps.append(lambda value: try_cast(concat(cast(value, "text"), text("Z")), _INSTANT))
            return tuple(steps)


def _first(candidates: list[Node]) -> Node:
    if len(candidates) == 1:
        return candidates[0]
    return exp.Coalesce(this=candidates[0], expressions=candidates[1:])


def _from_year_one(value: Node, converted: Node) -> Node:
    """Refuse the year 0, which calendars do not have and engines do."""
    return case((exp.GTE(this=value, expression=text("0001")), converted))


def _converted(wall: Node, from_zone: str, to_zone: str) -> Node:
    return call("CONVERT_TIMEZONE", text(from_zone), text(to_zone), wall)


def _wall_of_utc(instant: Node) -> Node:
    # A cast would show the clock of the session's zone.
    epoch = cast(text("1970-01-01 00:00:00"), _WALL)
    return call("TIMESTAMPADD", exp.var("MICROSECOND"), call("UNIX_MICROS", instant), epoch)


def _start_of(day: Node, unit: str) -> Node:
    if unit == "day":
        return day
    start = exp.DateTrunc(this=day, unit=exp.var(unit.upper()))  # type: ignore[no-untyped-call]  # sqlglot's
    return cast(start, "date")


def _start_on_clock(wall: Node, unit: str) -> Node:
    if unit not in _CUTS:
        return cast(_start_of(cast(wall, "date"), unit), _WALL)
    kept, rest = _CUTS[unit]
    shown = substring(cast(wall, "text"), 1, kept)
    return try_cast(concat(shown, text(rest)) if rest else shown, _WALL)
