"""One run, as it is returned and remembered."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from ematix_flow.spec.counts import RowCounts
from ematix_flow.spec.window import Ends


class RunStatus(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Purpose(StrEnum):
    """Why a run was started."""

    RUN = "run"
    BACKFILL = "backfill"
    REPLAY = "replay"
    DRY_RUN = "dry_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """One step of a run."""

    step: str
    seconds: float
    rows: int | None = None

    def to_json(self) -> dict[str, object]:
        """Return the step as records show it."""
        return {"step": self.step, "seconds": self.seconds, "rows": self.rows}


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetOutcome:
    """What became of one target of a run: each has its own commit."""

    connection: str
    target: str
    status: RunStatus
    rows: RowCounts = field(default_factory=RowCounts)
    watermark: str | None = None
    error: dict[str, object] | None = None

    def to_json(self) -> dict[str, object]:
        """Return the outcome as records show it."""
        return {
            "connection": self.connection,
            "target": self.target,
            "status": self.status.value,
            "rows": self.rows.to_json(),
            "watermark": self.watermark,
            "error": self.error,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """A run: who, when, on what, with what outcome.

    :param started_at: When the run was first begun; another attempt at it keeps that time.
    :param path: Where the rows went through: `in_database`, `direct` or `spark`.
    :param window: The part of the incremental column that was read: above, and up to.
    :param watermark: How far the pipeline has got with its (first) target.
    :param replay_of: The run whose window this one loads again.
    """

    run_id: str
    pipeline: str
    status: RunStatus
    started_at: str
    ended_at: str | None = None
    attempt: int = 1
    adopted: bool = False
    purpose: Purpose = Purpose.RUN
    replay_of: str | None = None
    path: str | None = None
    window: Ends | None = None
    watermark: str | None = None
    rows: RowCounts = field(default_factory=RowCounts)
    targets: tuple[TargetOutcome, ...] = ()
    steps: tuple[StepRecord, ...] = ()
    engine: dict[str, object] = field(default_factory=dict)
    error: dict[str, object] | None = None

    @property
    def seconds(self) -> float:
        """How long its steps took."""
        return sum(step.seconds for step in self.steps)

    @property
    def landed_in_part(self) -> bool:
        """Whether some of its targets have its rows and some have not."""
        statuses = {each.status for each in self.targets}
        return RunStatus.SUCCEEDED in statuses and statuses != {RunStatus.SUCCEEDED}

    def with_targets(self, outcomes: tuple[TargetOutcome, ...]) -> RunResult:
        """Return the run with the outcomes of its targets, and their counts taken together."""
        each = [outcome.rows for outcome in outcomes]
        # Every target is offered the same rows.
        shared = max((rows.read for rows in each), default=0)
        summed = {name: sum(getattr(rows, name) for rows in each) for name in RowCounts.names()}
        return replace(
            self,
            targets=outcomes,
            rows=RowCounts(**{**summed, "read": shared}),
            watermark=next((each.watermark for each in outcomes if each.watermark), None),
        )

    def to_json(self) -> dict[str, object]:
        """Return the run as `flow runs --format json` shows it."""
        return {
            "run_id": self.run_id,
            "pipeline": self.pipeline,
            "status": self.status.value,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "attempt": self.attempt,
            "adopted": self.adopted,
            "purpose": self.purpose.value,
            "replay_of": self.replay_of,
            "path": self.path,
            "window": list(self.window) if self.window else None,
            "watermark": self.watermark,
            "rows": self.rows.to_json(),
            "targets": [each.to_json() for each in self.targets],
            "steps": [each.to_json() for each in self.steps],
            "engine": self.engine,
            "error": self.error,
        }
