"""Durations as people write them: `"15m"`, `"2h30m"`, `"7d"`, or a timedelta."""

from __future__ import annotations

import re
from datetime import timedelta

_UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([wdhms])", re.IGNORECASE)
FORM = "a duration such as '15m', '2h30m' or '7d' (units: w d h m s), or a timedelta"


def parse_duration(value: object) -> timedelta:
    """Read a duration; ValueError says what was expected."""
    if isinstance(value, str):
        text = value.strip()
        parts = _PART.findall(text)
        if not parts or _PART.sub("", text).strip():
            raise ValueError(f"takes {FORM}, not {value!r}")
        try:
            found = sum(
                (timedelta(**{_UNITS[unit.lower()]: float(number)}) for number, unit in parts),
                timedelta(),
            )
        except OverflowError:
            raise ValueError(f"takes at most {timedelta.max.days}d, not {value!r}") from None
    elif isinstance(value, timedelta):
        found = value
    else:
        raise ValueError(f"takes {FORM}, not {value!r}")  # noqa: TRY004  # one error for bad values
    if found <= timedelta():
        raise ValueError(f"takes a duration above zero, not {value!r}")
    return found


def duration_text(value: timedelta) -> str:
    """Write a duration as it can be read again: `1d12h`."""
    left = round(value.total_seconds())
    parts = []
    for unit, seconds in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, seconds)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
