"""How long each step took, told as it happens and kept for the record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ematix_flow._base.clock import Clock
from ematix_flow.observe.events import Observer, StepEnded, StepStarted
from ematix_flow.record.run import StepRecord


@dataclass(slots=True)
class TimedStep:
    """A step under way; whoever does it says how many rows it was about."""

    rows: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimes:
    """The clock of one run's steps."""

    pipeline: str
    clock: Clock
    observer: Observer
    on_step: Callable[[StepRecord], None]

    @contextmanager
    def of(self, step: str, description: str) -> Iterator[TimedStep]:
        """Time the block; one that raises has no time."""
        self.observer(StepStarted(pipeline=self.pipeline, step=step, description=description))
        start = self.clock.monotonic()
        timed = TimedStep()
        yield timed
        seconds = round(self.clock.monotonic() - start, 3)
        self.on_step(StepRecord(step=step, seconds=seconds, rows=timed.rows))
        self.observer(
            StepEnded(pipeline=self.pipeline, step=step, seconds=seconds, rows=timed.rows)
        )
