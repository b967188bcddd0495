"""How often, and how patiently, a failed run is tried again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ematix_flow._base.suggest import nearest
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
            guess = nearest(str(self.backoff), BACKOFFS)
            raise refused(
                f"Retry: unknown backoff {self.backoff!r}"
                + (f"; did you mean {guess!r}?" if guess else "")
                + f" (known: {', '.join(BACKOFFS)})"
            )
        for name in ("base_secs", "max_backoff_secs", "max_total_secs"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and value > 0):
                raise refused(f"Retry: {name} takes seconds above zero, not {value!r}")
        jitter: object = self.jitter
        if not isinstance(jitter, int | float) or not 0 <= jitter <= 1:
            raise refused(f"Retry: jitter takes a fraction from 0 to 1, not {self.jitter!r}")
        object.__setattr__(self, "retry_on", tuple(self.retry_on))
