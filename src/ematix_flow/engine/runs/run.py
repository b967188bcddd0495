"""One run, from its lease to its record.

A run that died leaves an open record. The next run adopts it: same run id, same window,
and the target's ledger says whether it had already landed. So a crash at any point,
followed by a run, gives exactly the rows of one run.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ematix_flow._base.clock import iso
from ematix_flow.engine.batch.outcome import failed, recorded, succeeded
from ematix_flow.engine.batch.ports import BatchPorts
from ematix_flow.engine.batch.walk import BatchWalk
from ematix_flow.engine.runs.adoption import begin
from ematix_flow.engine.runs.context import Order, RunContext, claim_of
from ematix_flow.engine.spark.opened import EngineReport
from ematix_flow.errors import ConfigError, FlowError, PipelineBusy, PresumedFailed
from ematix_flow.observe.events import Event, Noticed, Observer, RunEnded, RunStarted
from ematix_flow.plan.consent import require_runnable
from ematix_flow.plan.plan import Plan
from ematix_flow.plan.steps import Commit
from ematix_flow.ports import LedgerEntry
from ematix_flow.record.lease import pipeline_lease
from ematix_flow.record.run import Purpose, RunResult, RunStatus, StepRecord, TargetOutcome
from ematix_flow.spec.window import Ends
from ematix_flow.write.holding import Holding
from ematix_flow.write.landed import landed as landed_in
from ematix_flow.write.landed import last_landed
from ematix_flow.write.staging_table import sweep_staging_tables

# What each target of a plan has of a run.
_Landed = tuple[LedgerEntry | None, ...]


def run_pipeline(pipeline: str, context: RunContext, order: Order | None = None) -> RunResult:
    """Run *pipeline* once and return its result; a failure is recorded, then raised."""
    order = order or Order()
    context = replace(context, observer=_shielded(context.observer))
    with pipeline_lease(context.state_directory / "leases", pipeline, context.clock):
        begun = begin(pipeline, context, order)
        return _Run(begun.result, context, order, superseded=begun.superseded).carry_out()


@dataclass(slots=True)
class _Run:
    """A run under way: its record so far, and what it is doing."""

    record: RunResult
    context: RunContext
    order: Order
    superseded: tuple[RunResult, ...] = ()
    plan: Plan | None = None
    walk: BatchWalk | None = None
    began: float = 0.0
    is_logged: bool = False

    def carry_out(self) -> RunResult:
        self.began = self.context.clock.monotonic()
        try:
            with self._holding() as holding:
                self._load(holding)
                self._end(status=RunStatus.SUCCEEDED)
        except BaseException as error:
            if isinstance(error, PipelineBusy) and not self.is_logged:
                raise  # refused: there was no run
            if not self._had_landed(error):
                raise
            if not isinstance(error, Exception):
                raise  # recorded as landed; an interruption still interrupts
        finally:
            if self.is_logged:
                self._tell_end()
        return self.record

    def _holding(self) -> Holding:
        claim = claim_of(self.record, self.context)
        return Holding(claim=claim, target=self.context.target, notice=self._notice)

    # Loading -----------------------------------------------------------------------------------

    def _load(self, holding: Holding) -> None:
        files = map(self.context.database_file, self.context.targets)
        holding.lock((file for file in files if file is not None), self.record.started_at)
        self.plan = self._planned(self.record.window)
        holding.take(self.context.targets)
        landed = self._settle_plan(holding)
        self._start(self.plan)
        for dead in self.superseded:
            self._close(dead)
        if all(landed):
            self._adopt(landed)
            self._sweep(self.plan)
        else:
            self._walk(holding, landed)

    def _planned(self, window: Ends | None) -> Plan:
        plan = self.context.plan(window, again=self.order.purpose is not Purpose.RUN)
        require_runnable(plan, allow_destructive=self.order.allow_destructive)
        return plan

    def _settle_plan(self, holding: Holding) -> _Landed:
        """Plan again if the target is not what the plan saw; return what has landed of this run.

        The plan was made before the lease was held, because making it touches nothing.
        """
        assert self.plan is not None
        if self._is_stale(self.plan, holding):
            self.plan = self._planned(self.record.window)
        may_have_landed = self.record.attempt > 1 or self.order.run_id is not None
        landed: _Landed = (None,) * len(self.plan.loads)
        if may_have_landed:
            landed = self._landed(self.record, self.plan)
        window = self.plan.window
        reached = [entry.watermark for entry in landed if entry and entry.watermark]
        if window is not None and window.end is None and reached and not all(landed):
            # The targets that are still to come must not get more than the others have.
            self.plan = self._planned(window.up_to(min(reached)).ends)
        return landed

    def _is_stale(self, plan: Plan, holding: Holding) -> bool:
        """Tell whether another run has committed to any of the targets since the plan was made."""
        return any(
            holding.is_leased(load.commit.connection)
            and self._last_commit(load.commit) != target.last_commit
            for load, target in zip(plan.loads, plan.targets, strict=True)
        )

    def _last_commit(self, step: Commit) -> str | None:
        target = self.context.target(step.connection)
        last = last_landed(target, self.record.pipeline, step.target)
        return last.committed_at if last else None

    def _adopt(self, landed: _Landed) -> None:
        """Take over the outcome of an attempt that had landed before it died."""
        assert self.plan is not None
        outcomes = _outcomes(self.plan, landed)
        self.record = replace(self.record.with_targets(outcomes), adopted=True)

    def _walk(self, holding: Holding, landed: _Landed) -> None:
        assert self.plan is not None
        area = self.context.staging_of(self.plan)
        area.sweep()
        scratch = area.of_run(self.record.run_id)
        scratch.mkdir(parents=True)
        self.walk = BatchWalk(
            plan=self.plan,
            run_id=self.record.run_id,
            scratch=scratch,
            quarantine=self._quarantine,
            landed=landed,
            continue_on_failure=self.context.continue_on_failure,
            window=self.record.window or (None, None),
            moves_watermark=self.order.moves_watermark,
            ports=BatchPorts(
                reader=self.context.reader,
                target=self.context.target,
                open_engine=self.context.open_engine(self.plan),
                observer=self.context.observer,
                clock=self.context.clock,
                on_step=self._add_step,
                on_engine=self._set_engine,
                token=holding.token,
                require_lease=holding.require,
                allow_destructive=self.order.allow_destructive,
            ),
        )
        holding.on_lost = self.walk.interrupt
        try:
            self.walk.walk()
        finally:
            self.record = self.record.with_targets(self.walk.in_order())
            shutil.rmtree(scratch, ignore_errors=True)

    def _sweep(self, plan: Plan) -> None:
        """Remove what a run left in staging that had landed before it died."""
        try:
            self.context.staging_of(plan).sweep()
            for load in plan.loads:
                target = self.context.target(load.commit.connection)
                sweep_staging_tables(target, plan.pipeline, load.commit)
        except (OSError, FlowError) as error:
            self._notice(f"what the run left in staging stays for the next one to sweep ({error})")

    def _quarantine(self, number: int) -> Path:
        folder = self.context.state_directory / "quarantine" / self.record.pipeline
        suffix = f".{number}" if number else ""
        return folder / f"{self.record.run_id}{suffix}.parquet"

    # Its end -----------------------------------------------------------------------------------

    def _had_landed(self, error: BaseException) -> bool:
        """Record the outcome of a run that raised: what the target says, not what we feel.

        Something may fail after the commit (a closed pipe, Ctrl-C while Spark shuts down); calling
        that a failure would load the rows again.
        """
        landed: _Landed = (None,)
        # An earlier attempt may have landed, whatever happened to this one.
        if self.record.attempt > 1 or (self.walk is not None and self.walk.commit_began):
            if self.plan is None:
                self._notice("the run stays open: the next one asks the target before it loads")
                return False
            try:
                landed = self._landed(self.record, self.plan)
            except Exception as unknown:  # noqa: BLE001  # whatever it is, we cannot know
                self._notice(f"cannot ask the target whether the run landed ({unknown})")
                self._notice("the run stays open: the next one asks again before it loads")
                return False
        if not all(landed) or (self.walk and self.walk.is_after and isinstance(error, Exception)):
            if any(landed) and not all(landed):
                self._record_part(landed, error)
            self._start(self.plan)
            self._end(status=RunStatus.FAILED, error=recorded(error))
            return False
        self._notice(f"the rows had landed before this happened: {type(error).__name__}: {error}")
        adopted = self.record.adopted
        self._adopt(landed)
        self._end(status=RunStatus.SUCCEEDED, adopted=adopted)
        return True

    def _record_part(self, landed: _Landed, error: BaseException) -> None:
        """Note which targets have the rows, so that the next run loads the others only."""
        assert self.plan is not None
        outcomes = tuple(
            succeeded(load.commit, entry) if entry else failed(load.commit, error)
            for load, entry in zip(self.plan.loads, landed, strict=True)
        )
        self.record = self.record.with_targets(outcomes)

    def _close(self, dead: RunResult) -> None:
        """Record how a run ended that died and that nobody will adopt now."""
        assert self.plan is not None
        if dead.status is not RunStatus.RUNNING:
            return  # it landed in part, and that is on record
        landed = self._landed(dead, self.plan)
        ended = dead.with_targets(_outcomes(self.plan, landed))
        if all(landed):
            ended = replace(ended, status=RunStatus.SUCCEEDED, adopted=True)
        else:
            died = f"the process died before the commit; superseded by {self._named()}"
            error = PresumedFailed(died).to_json()
            ended = replace(ended, status=RunStatus.FAILED, error=error)
        self.context.log.ended(replace(ended, ended_at=iso(self.context.clock.now())))

    def _named(self) -> str:
        return "--new" if self.order.new else f"run {self.record.run_id}"

    def _landed(self, run: RunResult, plan: Plan) -> _Landed:
        """Ask each target of *plan* what it has of *run*."""
        return tuple(
            landed_in(
                self.context.target(load.commit.connection),
                run.pipeline,
                load.commit.target,
                run.run_id,
            )
            for load in plan.loads
        )

    # Its record --------------------------------------------------------------------------------

    def _start(self, plan: Plan | None) -> None:
        """Write that the run began: after this, a crash leaves a run to go on with.

        Without this line a crash could not be told from no run, so without it there is no run.
        """
        if self.is_logged:
            return
        context = self.context
        if plan is not None:
            self.record = replace(self.record, path=plan.path.value, window=plan.ends)
        try:
            context.log.started(self.record)
        except OSError as error:
            raise ConfigError(
                f"the run log cannot be written: {error}",
                hint=f"make {context.state_directory} writable; nothing was run",
            ) from error
        self.is_logged = True
        context.observer(RunStarted(pipeline=self.record.pipeline, run_id=self.record.run_id))
        if plan is not None:
            seconds = round(context.clock.monotonic() - self.began, 3)
            self._add_step(StepRecord(step="plan", seconds=seconds))

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

    def _tell_end(self) -> None:
        self.context.observer(
            RunEnded(
                pipeline=self.record.pipeline,
                run_id=self.record.run_id,
                status=self.record.status,
                seconds=self.context.clock.monotonic() - self.began,
            )
        )

    def _notice(self, text: str) -> None:
        self.context.observer(Noticed(pipeline=self.record.pipeline, text=text))


def _outcomes(plan: Plan, landed: _Landed) -> tuple[TargetOutcome, ...]:
    """Return the outcomes of the targets that have the rows."""
    pairs = zip(plan.loads, landed, strict=True)
    return tuple(succeeded(load.commit, entry) for load, entry in pairs if entry)


def _shielded(observer: Observer) -> Observer:
    """Return an observer that cannot break the run it watches (a closed pipe, a full disk)."""

    def observe(event: Event) -> None:
        with suppress(Exception):
            observer(event)

    return observe
