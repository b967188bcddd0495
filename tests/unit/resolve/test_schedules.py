from datetime import UTC, datetime, timedelta

import pytest

from ematix_flow.resolve.freshness import upstream_states
from ematix_flow.spec.duration import duration_text, parse_duration
from ematix_flow.spec.pipeline import Timing
from ematix_flow.spec.schedule import Schedule

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("15m", timedelta(minutes=15)),
        ("2h30m", timedelta(hours=2, minutes=30)),
        ("1w 1d", timedelta(days=8)),
        ("1.5h", timedelta(minutes=90)),
        (timedelta(seconds=7), timedelta(seconds=7)),
    ],
)
def test_durations_are_read_and_written(text, expected):
    assert parse_duration(text) == expected
    assert parse_duration(duration_text(expected)) == expected


@pytest.mark.parametrize("value", ["", "15", "m", "15 minutes", "-5m", "0s", 15, None, "5m x"])
def test_what_is_no_duration(value):
    with pytest.raises(ValueError, match="takes a duration"):
        parse_duration(value)


@pytest.mark.parametrize(
    ("cron", "zone", "last", "upcoming"),
    [
        ("0 2 * * *", "UTC", "2026-11-15T02:00:00+00:00", "2026-11-16T02:00:00+00:00"),
        ("0 12 * * *", "UTC", "2026-11-15T12:00:00+00:00", "2026-11-16T12:00:00+00:00"),
        (
            "0 2 * * *",
            "America/New_York",
            "2026-11-15T02:00:00-05:00",
            "2026-11-16T02:00:00-05:00",
        ),
        ("30 6 1 * *", "UTC", "2026-11-01T06:30:00+00:00", "2026-12-01T06:30:00+00:00"),
    ],
)
def test_slots_around_now(cron, zone, last, upcoming):
    schedule = Schedule(cron=cron, timezone=zone)
    assert schedule.last_slot(NOW).isoformat() == last
    assert schedule.next_slot(NOW).isoformat() == upcoming


@pytest.mark.parametrize(
    "day", [datetime(2026, 3, 8, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)]
)
def test_a_day_with_a_clock_change_has_its_slot_once(day):
    schedule = Schedule(cron="30 2 * * *", timezone="America/New_York")
    slots, at = [], day - timedelta(days=1)
    while (at := schedule.next_slot(at)) < day + timedelta(days=2):
        slots.append(at)
    days = [slot.date() for slot in slots]
    assert days == sorted(set(days))
    assert len(days) == 3


def test_an_upstream_is_fresh_within_its_limit():
    timing = Timing(upstream_freshness=(("a", timedelta(hours=1)), ("*", timedelta(days=1))))
    last = {"a": NOW - timedelta(hours=2), "b": NOW - timedelta(hours=2), "c": None}
    states = upstream_states(timing, ("a", "b", "c"), last, NOW)
    assert [(each.upstream, each.is_fresh) for each in states] == [
        ("a", False),
        ("b", True),
        ("c", False),
    ]
    assert str(states[0]) == "a last loaded 2026-11-15T10:00:00+00:00: too old (limit 1h)"
