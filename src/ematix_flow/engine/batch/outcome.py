"""What became of a target, for the record of its run."""

from __future__ import annotations

from ematix_flow.errors import FlowError, UnexpectedError
from ematix_flow.plan.steps import Commit
from ematix_flow.ports import LedgerEntry
from ematix_flow.record.run import RunStatus, TargetOutcome
from ematix_flow.spec.cursor import Cursor


def succeeded(step: Commit, done: LedgerEntry) -> TargetOutcome:
    """Return the outcome of a commit."""
    return TargetOutcome(
        connection=step.connection,
        target=str(step.target),
        status=RunStatus.SUCCEEDED,
        rows=done.rows,
        watermark=None if done.watermark is None else str(Cursor.read(done.watermark)),
    )


def failed(step: Commit, error: BaseException) -> TargetOutcome:
    """Return the outcome of a target that has nothing of this run."""
    return TargetOutcome(
        connection=step.connection,
        target=str(step.target),
        status=RunStatus.FAILED,
        error=recorded(error),
    )


def recorded(error: BaseException) -> dict[str, object]:
    """Return an error as records keep it."""
    if isinstance(error, FlowError):
        return error.to_json()
    if isinstance(error, Exception):
        return UnexpectedError.of(error).to_json()
    return FlowError(f"interrupted ({type(error).__name__})").to_json()
