"""One run, as it is remembered."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class RunStatus(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """Exact counts. `read` counts the rows the pipeline's query produced."""

    read: int = 0
    inserted: int = 0
    deleted: int = 0
    quarantined: int = 0

    def to_json(self) -> dict[str, int]:
        """Return the counts as records store them."""
        return {
            "read": self.read,
            "inserted": self.inserted,
            "deleted": self.deleted,
            "quarantined": self.quarantined,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """One step of a run."""

    step: str
    seconds: float
    rows: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run: who, when, on what, with what outcome."""

    run_id: str
    pipeline: str
    status: RunStatus
    started_at: str
    ended_at: str | None = None
    attempt: int = 1
    adopted: bool = False
    rows: RowCounts = field(default_factory=RowCounts)
    steps: tuple[StepRecord, ...] = ()
    engine: dict[str, object] = field(default_factory=dict)
    error: dict[str, object] | None = None

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
            "rows": self.rows.to_json(),
            "steps": [
                {"step": each.step, "seconds": each.seconds, "rows": each.rows}
                for each in self.steps
            ],
            "engine": self.engine,
            "error": self.error,
        }
