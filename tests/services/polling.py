"""Bounded waiting: the only place of this package that sleeps."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(
    condition: Callable[[], bool],
    *,
    seconds: float,
    every: float = 0.05,
    now: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> bool:
    """Ask until `condition` holds or `seconds` have passed; say whether it held.

    The condition is asked at least once, so `seconds=0` means "is it so right now?".
    """
    deadline = now() + seconds
    while not condition():
        if now() >= deadline:
            return False
        pause(every)
    return True
