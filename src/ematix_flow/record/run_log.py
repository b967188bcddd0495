"""Where runs are remembered."""

from __future__ import annotations

from typing import Protocol

from ematix_flow.record.run import RunResult, StepRecord


class RunLog(Protocol):
    """Where runs are remembered."""

    def started(self, run: RunResult) -> None:
        """Remember that a run began."""
        ...

    def step(self, run: RunResult, step: StepRecord) -> None:
        """Remember that a step ended."""
        ...

    def ended(self, run: RunResult) -> None:
        """Remember how a run ended."""
        ...

    def run(self, run_id: str) -> RunResult | None:
        """Return one run."""
        ...

    def open_runs(self, pipeline: str) -> list[RunResult]:
        """Return the runs to go on with, newest first: never ended, or landed only in part."""
        ...
