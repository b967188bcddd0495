"""One run, from its lease to its record.

A run that died leaves an open record. The next run adopts it: same run id, and the
target's ledger says whether it had already landed. So a crash at any point, followed
by a run, gives exactly the rows of one run.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from ematix_flow._base.clock import Clock, iso
from ematix_flow._base.ids import uuid7
from ematix_flow.engine.batch import BatchPorts, BatchWalk, OpenEngineLate
from ematix_flow.engine.opened import EngineReport
from ematix_flow.errors import ConfigError, FlowError, UnexpectedError
from ematix_flow.observe.events import Event, Noticed, Observer, RunEnded, RunStarted
from ematix_flow.plan.consent import require_runnable
from ematix_flow.plan.plan import Plan
from ematix_flow.plan.steps import Commit
from ematix_flow.ports import LedgerEntry, Reader, Target
from ematix_flow.record.lease import pipeline_lease
from ematix_flow.record.run import RowCounts, RunRecord, RunStatus, StepRecord
from ematix_flow.sqltext.bookkeeping import bookkeeping
from ematix_flow.write.ledger import entry_of_run
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
    log: RunLog
    clock: Clock
    observer: Observer
    reader: Callable[[str], Reader]
    target: Callable[[str], Target]
    plan: Callable[[], Plan]
    staging_root: Callable[[], Path]
    open_engine: Callable[[Plan], OpenEngineLate]
    allow_destructive: bool = False


def run_pipeline(pipeline: str, context: RunContext, *, new: bool = False) -> RunRecord:
    """Run *pipeline* once and return its record; a failure is recorded, then raised.

    :param new: Load again even if a run that died had already landed.
    """
    context = replace(context, observer=_shielded(context.observer))
    with pipeline_lease(context.state_directory / "leases", pipeline, context.clock):
        left_open = context.log.open_run(pipeline)
        record = _begin(pipeline, context, None if new else left_open)
        _start_log(record, context)
        return _Run(record, context, superseded=left_open if new else None).carry_out()


@dataclass(slots=True)
class _Run:
    """A run under way: its record so far, and what it is doing."""

    record: RunRecord
    context: RunContext
    superseded: RunRecord | None = None
    plan: Plan | None = None
    walk: BatchWalk | None = None

    def carry_out(self) -> RunRecord:
        context = self.context
        start = context.clock.monotonic()
        context.observer(RunStarted(pipeline=self.record.pipeline, run_id=self.record.run_id))
        try:
            rows, adopted = self._load()
        except BaseException as error:
            if not self._had_landed(error):
                raise
            if not isinstance(error, Exception):
                raise  # recorded as landed; an interruption still interrupts
        else:
            self._end(status=RunStatus.SUCCEEDED, rows=rows, adopted=adopted)
        finally:
            context.observer(
                RunEnded(
                    pipeline=self.record.pipeline,
                    run_id=self.record.run_id,
                    status=self.record.status,
                    seconds=context.clock.monotonic() - start,
                )
            )
        return self.record

    def _load(self) -> tuple[RowCounts, bool]:
        """Return the counts, and whether they come from a run that had landed before it died."""
        start = self.context.clock.monotonic()
        self.plan = self.context.plan()
        require_runnable(self.plan, allow_destructive=self.context.allow_destructive)
        area = StagingArea(self.context.staging_root() / self.record.pipeline)
        seconds = round(self.context.clock.monotonic() - start, 3)
        self._add_step(StepRecord(step="plan", seconds=seconds))
        if self.superseded is not None:
            self._close(self.superseded)
        if self.record.attempt > 1 and (done := self._ledger_entry(self.record)) is not None:
            return _counts(done), True

        area.sweep()
        scratch = area.of_run(self.record.run_id)
        scratch.mkdir(parents=True)
        self.walk = BatchWalk(
            plan=self.plan,
            run_id=self.record.run_id,
            scratch=scratch,
            quarantine=self._quarantine,
            ports=BatchPorts(
                reader=self.context.reader,
                target=self.context.target,
                open_engine=self.context.open_engine(self.plan),
                observer=self.context.observer,
                clock=self.context.clock,
                on_step=self._add_step,
                on_engine=self._set_engine,
                allow_destructive=self.context.allow_destructive,
            ),
        )
        try:
            return self.walk.walk(), False
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    @property
    def _quarantine(self) -> Path:
        folder = self.context.state_directory / "quarantine" / self.record.pipeline
        return folder / f"{self.record.run_id}.parquet"

    def _had_landed(self, error: BaseException) -> bool:
        """Record the outcome of a run that raised: what the target says, not what we feel.

        Something may fail after the commit (a closed pipe, Ctrl-C while Spark shuts down); calling
        that a failure would load the rows again.
        """
        done = None
        if self.walk is not None and self.walk.commit_began:
            try:
                done = self._ledger_entry(self.record)
            except Exception as unknown:  # noqa: BLE001  # whatever it is, we cannot know
                self._notice(f"cannot ask the target whether the run landed ({unknown})")
                self._notice("the run stays open: the next one asks again before it loads")
                return False
        if done is None:
            self._end(status=RunStatus.FAILED, error=_recorded(error))
            return False
        self._notice(f"the rows had landed before this happened: {type(error).__name__}: {error}")
        self._end(status=RunStatus.SUCCEEDED, rows=_counts(done))
        return True

    def _close(self, dead: RunRecord) -> None:
        """Record how a run ended that died and that nobody will adopt now."""
        ended_at = iso(self.context.clock.now())
        done = self._ledger_entry(dead)
        if done is not None:
            ended = replace(dead, status=RunStatus.SUCCEEDED, rows=_counts(done), adopted=True)
        else:
            what = "the process died before the commit; superseded by --new"
            error: dict[str, object] = {"type": "PresumedFailed", "what": what}
            ended = replace(dead, status=RunStatus.FAILED, error=error)
        self.context.log.ended(replace(ended, ended_at=ended_at))

    def _ledger_entry(self, run: RunRecord) -> LedgerEntry | None:
        """Ask the target whether a run has committed."""
        assert self.plan is not None
        step = next(step for step in self.plan.steps if isinstance(step, Commit))
        target = self.context.target(step.connection)
        if not target.exists():
            return None
        sql = bookkeeping(target.dialect)
        with target.open_read_only() as session:
            return entry_of_run(session, sql, run.pipeline, str(step.target), run.run_id)

    def _add_step(self, step: StepRecord) -> None:
        self.record = replace(self.record, steps=(*self.record.steps, step))
        try:
            self.context.log.step(self.record, step)
        except OSError as error:
            self._notice(f"the run log cannot be written: {error}")

    def _set_engine(self, report: EngineReport) -> None:
        self.record = replace(self.record, engine=report.to_json())

    def _end(self, **outcome: Any) -> None:
        self.record = replace(self.record, ended_at=iso(self.context.clock.now()), **outcome)
        try:
            self.context.log.ended(self.record)
        except OSError as error:
            self._notice(f"the run log cannot be written: {error}; the next run will settle it")

    def _notice(self, text: str) -> None:
        self.context.observer(Noticed(pipeline=self.record.pipeline, text=text))


def _begin(pipeline: str, context: RunContext, adopted: RunRecord | None) -> RunRecord:
    """Return a new run, or another attempt at one that never ended."""
    if adopted is None:
        now = context.clock.now()
        return RunRecord(
            run_id=str(uuid7(now)), pipeline=pipeline, status=RunStatus.RUNNING, started_at=iso(now)
        )
    text = f"run {adopted.run_id} never ended; continuing it (--new starts another)"
    context.observer(Noticed(pipeline=pipeline, text=text))
    return replace(adopted, attempt=adopted.attempt + 1, steps=())


def _start_log(record: RunRecord, context: RunContext) -> None:
    """Without this line a crash could not be told from no run, so without it there is no run."""
    try:
        context.log.started(record)
    except OSError as error:
        raise ConfigError(
            f"the run log cannot be written: {error}",
            hint=f"make {context.state_directory} writable; nothing was run",
        ) from error


def _counts(done: LedgerEntry) -> RowCounts:
    inserted, deleted = done.rows_inserted, done.rows_deleted
    return RowCounts(read=inserted, inserted=inserted, deleted=deleted)


def _shielded(observer: Observer) -> Observer:
    """Return an observer that cannot break the run it watches (a closed pipe, a full disk)."""

    def observe(event: Event) -> None:
        with suppress(Exception):
            observer(event)

    return observe


def _recorded(error: BaseException) -> dict[str, object]:
    if isinstance(error, FlowError):
        return error.to_json()
    if isinstance(error, Exception):
        return UnexpectedError.of(error).to_json()
    return FlowError(f"interrupted ({type(error).__name__})").to_json()
