"""How long each step took, told as it happens and kept for the record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ematix_flow._base.clock import Clock
from ematix_flow.observe.events import Observer, StepEnded, StepStarted
from ematix_flow.record.run import StepRecord
from ematix_flow.spec.counts import RowCounts


@dataclass(slots=True, kw_only=True)
class StepTimes:
    """The clock of one run's steps.

    :param rows: What the last load has counted so far.
    """

    pipeline: str
    clock: Clock
    observer: Observer
    on_step: Callable[[StepRecord], None]
    rows: RowCounts = field(default_factory=RowCounts)

    @contextmanager
    def of(self, step: str, description: str) -> Iterator[None]:
        """Time the block; one that raises has no time."""
        self.observer(StepStarted(pipeline=self.pipeline, step=step, description=description))
        start = self.clock.monotonic()
        yield
        seconds = round(self.clock.monotonic() - start, 3)
        read = self.rows.read
        rows = {"stage": read, "carry": read, "commit": self.rows.inserted}.get(step)
        self.on_step(StepRecord(step=step, seconds=seconds, rows=rows))
        self.observer(StepEnded(pipeline=self.pipeline, step=step, seconds=seconds, rows=rows))
