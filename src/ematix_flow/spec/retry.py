"""How often, and how patiently, a failed run is tried again."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

from ematix_flow._base.suggest import did_you_mean
from ematix_flow.errors import refused

BACKOFFS = ("fixed", "linear", "exponential")


@dataclass(frozen=True, slots=True)
class Retry:
    """Attempts include the first; waits grow by *backoff* and are capped.

    :param retry_on: Names of error classes worth another try; none means every retryable one.
    """

    max_attempts: int = 3
    backoff: Literal["fixed", "linear", "exponential"] = "exponential"
    base_secs: float = 30.0
    max_backoff_secs: float = 600.0
    jitter: float = 0.1
    max_total_secs: float | None = None
    retry_on: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.max_attempts, bool) or not isinstance(self.max_attempts, int):
            raise refused(f"Retry: max_attempts takes a whole number, not {self.max_attempts!r}")
        if self.max_attempts < 1:
            raise refused(
                f"Retry: max_attempts counts the first attempt, so it is at least 1, "
                f"not {self.max_attempts}"
            )
        if self.backoff not in BACKOFFS:
            raise refused(
                f"Retry: unknown backoff {self.backoff!r}"
                + did_you_mean(self.backoff, BACKOFFS)
                + f" (known: {', '.join(BACKOFFS)})"
            )
        for name in ("base_secs", "max_backoff_secs", "max_total_secs"):
            value = getattr(self, name)
            if value is not None and not _is_seconds(value):
                raise refused(f"Retry: {name} takes seconds above zero, not {value!r}")
        jitter: object = self.jitter
        if isinstance(jitter, bool) or not isinstance(jitter, int | float) or not 0 <= jitter <= 1:
            raise refused(f"Retry: jitter takes a fraction from 0 to 1, not {self.jitter!r}")
        object.__setattr__(self, "retry_on", _error_names(self.retry_on))


def _is_seconds(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < value < inf  # type: ignore[operator]  # a number, by the line above


def _error_names(value: object) -> tuple[str, ...]:
    """Read one error class or several, each by its name or as the class itself."""
    listed = value if isinstance(value, list | tuple) else [value]
    names = [each.__name__ if isinstance(each, type) else each for each in listed]
    if not all(isinstance(name, str) and name for name in names):
        raise refused(f"Retry: retry_on takes names of error classes, not {value!r}")
    return tuple(str(name) for name in names)
