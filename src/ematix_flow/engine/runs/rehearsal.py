"""A dry run: everything up to the commit, which is carried out, counted and undone.

The target, its companion and our own tables on it stay as they are. A table that is not
there yet is stood in for by an empty one that goes with the session.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ematix_flow._base.clock import iso
from ematix_flow._base.ids import uuid7
from ematix_flow.engine.batch.groups import TargetSteps, by_target
from ematix_flow.engine.batch.ports import BatchPorts
from ematix_flow.engine.batch.walk import BatchWalk
from ematix_flow.engine.runs.context import RunContext, claim_of
from ematix_flow.engine.runs.holding import Holding
from ematix_flow.engine.runs.stand_ins import RehearsalPlan
from ematix_flow.engine.runs.undone import UndoneTarget
from ematix_flow.errors import FlowError, NotSupported
from ematix_flow.observe.events import Event, Noticed, Observer, StepStarted
from ematix_flow.plan.consent import require_runnable
from ematix_flow.plan.plan import Plan
from ematix_flow.ports import Target
from ematix_flow.record.lease import pipeline_lease
from ematix_flow.record.run import Purpose, RunResult, RunStatus, StepRecord
from ematix_flow.spec.table import Table
from ematix_flow.sqltext.bookkeeping import FENCE, bookkeeping
from ematix_flow.sqltext.program.companion import companion_of

# What a database in a file may have beside it.
_BESIDE = ("", ".wal", "-journal", "-wal", "-shm")


def rehearse(
    pipeline: str,
    context: RunContext,
    plan: Callable[[], RehearsalPlan],
    *,
    allow_destructive: bool,
) -> RunResult:
    """Return what a run of *pipeline* would do, counted; there is no record of it.

    :param plan: Plans it with stand-ins for the tables that are not there yet.
    """
    with (
        pipeline_lease(context.state_directory / "leases", pipeline, context.clock),
        ExitStack() as stack,
    ):
        now = context.clock.now()
        result = RunResult(
            run_id=str(uuid7(now)),
            pipeline=pipeline,
            status=RunStatus.RUNNING,
            started_at=iso(now),
            purpose=Purpose.DRY_RUN,
        )
        planned = plan()
        observer = _naming(context.observer, planned)
        rehearsal = _Rehearsal(
            context=replace(context, observer=observer), plan=planned.plan, result=result
        )
        require_runnable(rehearsal.plan, allow_destructive=allow_destructive)
        rehearsal.require_unaltered()
        rehearsal.hold(stack)
        try:
            done = rehearsal.carry_out(allow_destructive=allow_destructive)
        except FlowError as error:
            error.what = planned.shown(error.what)
            error.details = planned.shown(error.details) if error.details else None
            raise
        outcomes = (replace(each, target=planned.shown(each.target)) for each in done.targets)
        return replace(done, targets=tuple(outcomes))


def _naming(observer: Observer, planned: RehearsalPlan) -> Observer:
    """Return an observer that is told the names of the targets, not those that stand in."""

    def observe(event: Event) -> None:
        match event:
            case StepStarted(description=text):
                event = replace(event, description=planned.shown(text))
            case Noticed(text=text):
                event = replace(event, text=planned.shown(text))
            case _:
                pass
        observer(event)

    return observe


@dataclass(slots=True, kw_only=True)
class _Rehearsal:
    context: RunContext
    plan: Plan
    result: RunResult

    @property
    def _targets(self) -> tuple[TargetSteps, ...]:
        return by_target(self.plan.steps).targets

    def require_unaltered(self) -> None:
        """Refuse what could only be counted by changing a table that is there."""
        altering = [
            statement
            for each in self._targets
            for statement in (*each.prepare.ddl, *each.prepare.destructive)
            if statement.startswith("ALTER")
        ]
        if altering:
            raise NotSupported(
                f"{self.plan.target} has to be altered before rows can be counted against it: "
                f"{'; '.join(altering)}",
                where=self.plan.location,
                hint="`flow plan` shows the changes; `flow run` applies them",
            )

    def hold(self, stack: ExitStack) -> None:
        """Keep real runs away, where there has ever been one."""
        context = self.context
        files = [(name, context.database_file(name)) for name in context.targets]
        holding = stack.enter_context(
            Holding(
                claim=claim_of(self.result, context), target=context.target, notice=lambda _: None
            )
        )
        holding.lock((file for _, file in files if file is not None), self.result.started_at)
        for name, file in files:
            if file is not None and not context.target(name).exists():
                stack.callback(_remove, file)
        holding.take([name for name in context.targets if self._has_leases(name)])

    def _has_leases(self, connection: str) -> bool:
        target = self.context.target(connection)
        if not bookkeeping(target.dialect).has_clock:
            return False
        with target.open_read_only() as session:
            return {each.name for each in session.columns(FENCE.name) or ()} >= {
                *FENCE.column_names
            }

    def carry_out(self, *, allow_destructive: bool) -> RunResult:
        context, result = self.context, self.result
        steps: list[StepRecord] = []
        area = context.staging_of(self.plan)
        scratch = area.of_run(result.run_id)
        scratch.mkdir(parents=True)
        walk = BatchWalk(
            plan=self.plan,
            run_id=result.run_id,
            scratch=scratch,
            quarantine=lambda number: scratch / f"aside-{number}.parquet",
            landed=tuple(None for _ in self._targets),
            goes_on=context.goes_on,
            dry=True,
            ports=BatchPorts(
                reader=context.reader,
                target=context.target,
                commits_to=self._undone_target,
                open_engine=context.open_engine(self.plan),
                observer=context.observer,
                clock=context.clock,
                on_step=steps.append,
                on_engine=lambda _: None,
                token=lambda _: 0,
                require_lease=lambda: None,
                allow_destructive=allow_destructive,
            ),
        )
        try:
            walk.walk()
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        done = result.with_targets(walk.in_order())
        return replace(
            done,
            status=RunStatus.SUCCEEDED,
            path=self.plan.path.value,
            window=self.plan.window.ends if self.plan.window else None,
            watermark=None,
            steps=tuple(steps),
            ended_at=iso(context.clock.now()),
        )

    def _undone_target(self, connection: str) -> Target:
        target = self.context.target(connection)
        tables = [
            table
            for each in self._targets
            if each.commit.connection == connection
            for table in _written(each)
        ]
        return UndoneTarget(target=target, tables=tuple(tables))


def _written(steps: TargetSteps) -> Iterator[Table]:
    """Give the tables that a commit writes, as they are called there."""
    layout, name = steps.commit.layout, steps.commit.target
    yield replace(layout.table, name=name)
    companion = companion_of(layout, name)
    if companion is not None:
        yield companion


def _remove(file: Path) -> None:
    """Remove a database that was not there before."""
    for suffix in _BESIDE:
        file.with_name(file.name + suffix).unlink(missing_ok=True)
