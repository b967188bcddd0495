"""A dry run: everything up to the commit, which is carried out, counted and undone.

The target, its companion and its ledger stay as they are; only the fence moves on, where there has
ever been a run, because that keeps real runs away. A table that is not there yet is stood in for
by an empty one that no run meets.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ematix_flow._base.clock import iso
from ematix_flow._base.ids import uuid7
from ematix_flow.engine.batch.ports import BatchPorts
from ematix_flow.engine.batch.walk import BatchWalk
from ematix_flow.engine.runs.context import RunContext, claim_of
from ematix_flow.errors import FlowError, NotSupported
from ematix_flow.plan.consent import require_supported
from ematix_flow.plan.plan import Plan
from ematix_flow.ports import Target
from ematix_flow.record.lease import pipeline_lease
from ematix_flow.record.run import Purpose, RunResult, RunStatus, StepRecord
from ematix_flow.write.holding import Holding, has_leases
from ematix_flow.write.stand_ins import as_meant


def rehearse(pipeline: str, context: RunContext, *, allow_destructive: bool) -> RunResult:
    """Return what a run of *pipeline* would do, counted; there is no record of it."""
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
        rehearsal = _Rehearsal(context=context, plan=context.plan(dry=True), result=result)
        # What is undone needs no consent.
        require_supported(rehearsal.plan)
        rehearsal.require_unaltered()
        holding = rehearsal.hold(stack)
        try:
            return rehearsal.carry_out(holding, allow_destructive=allow_destructive)
        except FlowError as error:
            error.what = rehearsal.as_meant(error.what)
            error.details = rehearsal.as_meant(error.details) if error.details else None
            raise


@dataclass(slots=True, kw_only=True)
class _Rehearsal:
    context: RunContext
    plan: Plan
    result: RunResult

    def require_unaltered(self) -> None:
        """Refuse what could only be counted by changing a table that is there."""
        altering = [each for load in self.plan.loads for each in load.prepare.alters]
        if altering:
            raise NotSupported(
                f"{self.plan.first.target} has to be altered before rows can be counted against "
                f"it: {'; '.join(altering)}",
                where=self.plan.location,
                hint="`flow plan` shows the changes; `flow run` applies them",
            )

    def hold(self, stack: ExitStack) -> Holding:
        """Keep real runs away, where there has ever been one."""
        context = self.context
        files = map(context.database_file, context.targets)
        holding = stack.enter_context(
            Holding(
                claim=claim_of(self.result, context), target=context.target, notice=lambda _: None
            )
        )
        holding.lock((file for file in files if file is not None), self.result.started_at)
        holding.take([name for name in context.targets if has_leases(context.target(name))])
        return holding

    def as_meant(self, text: str) -> str:
        """Return *text* with the names of the targets, not of what stood in for them."""
        for load in self.plan.loads:
            text = as_meant(text, self.plan.pipeline, load.commit.target)
        return text

    def carry_out(self, holding: Holding, *, allow_destructive: bool) -> RunResult:
        context, result = self.context, self.result
        steps: list[StepRecord] = []
        area = context.staging_of(self.plan)
        scratch = area.of_run(result.run_id)
        scratch.mkdir(parents=True)
        stand_ins = self._stand_ins(scratch)
        walk = BatchWalk(
            plan=self.plan,
            run_id=result.run_id,
            scratch=scratch,
            quarantine=lambda number: scratch / f"aside-{number}.parquet",
            landed=(None,) * len(self.plan.loads),
            continue_on_failure=context.continue_on_failure,
            dry=True,
            ports=BatchPorts(
                reader=context.reader,
                target=lambda name: stand_ins.get(name) or context.target(name),
                open_engine=context.open_engine(self.plan),
                observer=context.observer,
                clock=context.clock,
                on_step=steps.append,
                require_lease=holding.require,
                allow_destructive=allow_destructive,
            ),
        )
        holding.on_lost = walk.interrupt
        try:
            walk.walk()
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        done = result.with_targets(walk.in_order())
        return replace(
            done,
            status=RunStatus.SUCCEEDED,
            path=self.plan.path.value,
            window=self.plan.ends,
            watermark=None,
            steps=tuple(steps),
            ended_at=iso(context.clock.now()),
        )

    def _stand_ins(self, scratch: Path) -> dict[str, Target]:
        """Return databases that go with the run, for the files that are not there yet.

        Not the files themselves: another pipeline may fill them meanwhile.
        """
        files = {name: self.context.database_file(name) for name in self.context.targets}
        return {
            name: self.context.target_at(name, scratch / f"{name}-{file.name}")
            for name, file in files.items()
            if file is not None and not self.context.target(name).exists()
        }
