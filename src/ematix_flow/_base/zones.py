"""Time zones by their IANA names."""

from __future__ import annotations

from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones


def is_zone(name: object) -> bool:
    """Tell whether *name* is a time zone that this machine knows."""
    if not isinstance(name, str):
        return False
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


@cache
def zone_names() -> tuple[str, ...]:
    """Return the names of all time zones, to guess from."""
    return tuple(sorted(available_timezones()))
