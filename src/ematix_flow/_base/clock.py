"""Time as a parameter, so that tests never wait and never depend on today."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What time it is, and how much has passed."""

    def now(self) -> datetime:
        """Return the current instant in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that only ever grow, for durations."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def iso(instant: datetime) -> str:
    """Return *instant* as records store it: UTC, microseconds, `Z`."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
