"""The order to load a run's window again."""

from __future__ import annotations

from ematix_flow.declare.project import Project
from ematix_flow.engine.runs.context import Order
from ematix_flow.errors import UnknownName, UsageError
from ematix_flow.record.run import Purpose, RunResult, RunStatus
from ematix_flow.record.run_log import RunLog
from ematix_flow.spec.window import Ends, Window


def replay_order(run_id: str, log: RunLog, project: Project) -> tuple[str, Order]:
    """Return the pipeline of a run, and the order that loads what the run had loaded."""
    known = log.run(run_id)
    if known is None:
        raise UnknownName(
            f"there is no run {run_id!r} on record here", hint="`flow runs` shows their ids"
        )
    if known.status is RunStatus.RUNNING:
        raise UsageError(
            f"run {run_id} never ended",
            hint=f"`flow run {known.pipeline}` goes on with it",
        )
    if known.status is RunStatus.FAILED and not known.adopted:
        raise UsageError(
            f"run {run_id} failed, so there is nothing that it loaded to be loaded again",
            hint=f"`flow run {known.pipeline}` reads from where the last good one came to",
        )
    pipeline = project.pipeline(known.pipeline)
    window = _whole(known, pipeline.read.incremental_column)
    order = Order(
        purpose=Purpose.REPLAY, replay_of=run_id, window=window, moves_watermark=window is None
    )
    return known.pipeline, order


def _whole(run: RunResult, column: str | None) -> Ends | None:
    """Return the run's window with its end, which only its last row told."""
    if run.window is None or column is None:
        return run.window
    window = Window.of(column, run.window)
    if window.end is None and run.watermark is not None:
        window = window.up_to(run.watermark)
    return window.ends
