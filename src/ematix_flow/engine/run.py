"""One run, from its lease to its record.

A run that died leaves an open record. The next run adopts it: same run id, and the
target's ledger says whether it had already landed. So a crash at any point, followed
by a run, gives exactly the rows of one run.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from ematix_flow._base.clock import Clock, iso
from ematix_flow._base.ids import uuid7
from ematix_flow.engine.batch import BatchPorts, BatchWalk, OpenEngineLate
from ematix_flow.engine.opened import EngineReport
from ematix_flow.errors import FlowError
from ematix_flow.observe.events import Noticed, Observer, RunEnded, RunStarted
from ematix_flow.plan.steps import Commit, Plan
from ematix_flow.ports import LedgerEntry, Reader, Target
from ematix_flow.record.lease import pipeline_lease
from ematix_flow.record.run import RowCounts, RunRecord, RunStatus, StepRecord
from ematix_flow.sql.bookkeeping import Bookkeeping
from ematix_flow.write.ledger import last_commit
from ematix_flow.write.staging import StagingArea


class RunLog(Protocol):
    """Where runs are remembered."""

    def started(self, run: RunRecord) -> None:
        """Remember that a run began."""
        ...

    def step(self, run: RunRecord, step: StepRecord) -> None:
        """Remember that a step ended."""
        ...

    def ended(self, run: RunRecord) -> None:
        """Remember how a run ended."""
        ...

    def open_run(self, pipeline: str) -> RunRecord | None:
        """Return the run that began and never ended."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What a run needs from its surroundings."""

    state_directory: Path
    staging_root: Path
    log: RunLog
    clock: Clock
    observer: Observer
    reader: Callable[[str], Reader]
    target: Callable[[str], Target]
    plan: Callable[[], Plan]
    open_engine: Callable[[Plan], OpenEngineLate]


@dataclass(slots=True)
class _Trail:
    """What a run has left behind so far, whether it ends well or not."""

    run: RunRecord
    log: RunLog

    def add_step(self, step: StepRecord) -> None:
        self.run = replace(self.run, steps=(*self.run.steps, step))
        self.log.step(self.run, step)

    def set_engine(self, report: EngineReport) -> None:
        self.run = replace(self.run, engine=report.to_json())


def run_pipeline(pipeline: str, context: RunContext, *, new: bool = False) -> RunRecord:
    """Run *pipeline* once and return its record; a failure is recorded, then raised.

    :param new: Load again even if a run that died had already landed.
    """
    with pipeline_lease(context.state_directory / "leases", pipeline, context.clock):
        trail = _Trail(_begin(pipeline, context, new=new), context.log)
        start = context.clock.monotonic()
        context.log.started(trail.run)
        context.observer(RunStarted(pipeline=pipeline, run_id=trail.run.run_id))

        def end(**outcome: Any) -> RunRecord:
            run = replace(trail.run, ended_at=iso(context.clock.now()), **outcome)
            context.log.ended(run)
            seconds = context.clock.monotonic() - start
            context.observer(
                RunEnded(pipeline=pipeline, run_id=run.run_id, status=run.status, seconds=seconds)
            )
            return run

        try:
            rows, adopted = _carry_out(trail, context)
        except BaseException as error:
            end(status=RunStatus.FAILED, error=_recorded(error))
            raise
        return end(status=RunStatus.SUCCEEDED, rows=rows, adopted=adopted)


def _begin(pipeline: str, context: RunContext, *, new: bool) -> RunRecord:
    now = context.clock.now()
    left_open = context.log.open_run(pipeline)
    if left_open is not None and not new:
        context.observer(
            Noticed(
                pipeline=pipeline,
                text=f"run {left_open.run_id} never ended; continuing it (--new starts another)",
            )
        )
        return replace(left_open, attempt=left_open.attempt + 1, steps=())
    if left_open is not None:
        # Nobody will adopt it now, so it must not stay open.
        presumed: dict[str, object] = {
            "type": "PresumedFailed",
            "what": "the process died; superseded by --new",
        }
        context.log.ended(
            replace(left_open, status=RunStatus.FAILED, ended_at=iso(now), error=presumed)
        )
    return RunRecord(
        run_id=str(uuid7(now)), pipeline=pipeline, status=RunStatus.RUNNING, started_at=iso(now)
    )


def _carry_out(trail: _Trail, context: RunContext) -> tuple[RowCounts, bool]:
    """Return the counts, and whether they come from a run that had landed before it died."""
    run = trail.run
    start = context.clock.monotonic()
    plan = context.plan()
    seconds = round(context.clock.monotonic() - start, 3)
    trail.add_step(StepRecord(step="plan", seconds=seconds))
    if run.attempt > 1 and (done := _already_landed(run, plan, context)) is not None:
        inserted, deleted = done.rows_inserted, done.rows_deleted
        return RowCounts(read=inserted, inserted=inserted, deleted=deleted), True

    area = StagingArea(context.staging_root / run.pipeline)
    area.sweep()
    scratch = area.of_run(run.run_id)
    scratch.mkdir(parents=True)
    walk = BatchWalk(
        plan=plan,
        run_id=run.run_id,
        scratch=scratch,
        ports=BatchPorts(
            reader=context.reader,
            target=context.target,
            open_engine=context.open_engine(plan),
            observer=context.observer,
            clock=context.clock,
            on_step=trail.add_step,
            on_engine=trail.set_engine,
        ),
    )
    try:
        return walk.walk(), False
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _already_landed(run: RunRecord, plan: Plan, context: RunContext) -> LedgerEntry | None:
    """Ask the target whether the adopted run had committed before it died."""
    step = next(step for step in plan.steps if isinstance(step, Commit))
    target = context.target(step.connection)
    if not target.exists():
        return None
    with target.open_read_only() as session:
        done = last_commit(session, Bookkeeping(target.dialect), run.pipeline, str(step.target))
    return done if done is not None and done.run_id == run.run_id else None


def _recorded(error: BaseException) -> dict[str, object]:
    if isinstance(error, FlowError):
        return error.to_json()
    return FlowError(f"{type(error).__name__}: {error}").to_json()
