"""Loading one target: its rows are staged by one job and committed in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ematix_flow.engine.batch.frame_steps import FrameSteps
from ematix_flow.engine.batch.outcome import succeeded
from ematix_flow.engine.batch.ports import BatchPorts
from ematix_flow.engine.batch.step_times import StepTimes
from ematix_flow.engine.spark.errors import translating
from ematix_flow.engine.spark.interrupt import interruptible
from ematix_flow.engine.spark.progress import StageProgress, watch
from ematix_flow.observe.events import BytesCarried, Noticed, TasksProgressed
from ematix_flow.plan.explain import describe
from ematix_flow.plan.plan import Plan
from ematix_flow.plan.steps import Carry, LoadSteps, SelectInTarget, Stage
from ematix_flow.ports import CountedRows, StagedQuery, StagingTable, TargetSession
from ematix_flow.record.run import TargetOutcome
from ematix_flow.spec.counts import RowCounts
from ematix_flow.spec.table import Table
from ematix_flow.spec.window import Ends
from ematix_flow.write.carry import carry, pass_rows, passes
from ematix_flow.write.commit import Attempt, commit
from ematix_flow.write.quarantine import set_aside
from ematix_flow.write.staging import require_clean, stage
from ematix_flow.write.staging_table import staging_table


@dataclass(slots=True, kw_only=True)
class Loading:
    """The load of one target.

    :param number: Which of the run's targets it is.
    :param frames: The rows as the steps so far describe them.
    :param quarantine: The file for rows that are set aside.
    :param on_commit: Called when the commit begins.
    """

    plan: Plan
    run_id: str
    number: int
    load: LoadSteps
    ports: BatchPorts
    times: StepTimes
    frames: FrameSteps
    scratch: Path
    quarantine: Path
    window: Ends
    moves_watermark: bool
    dry: bool
    on_commit: Callable[[], None]
    _held: ExitStack = field(default_factory=ExitStack)
    _session: TargetSession | None = None
    _counted: RowCounts = field(default_factory=RowCounts)

    def carry_out(self) -> TargetOutcome:
        """Stage and commit; return what became of it."""
        with self._held:
            if self.load.carry is not None:
                self._carry(self.load.carry)
            for step in self.load.shape:
                self.frames.walk(step)
            source = self.load.source
            if isinstance(source, SelectInTarget):
                return self._commit(_query_of(source))
            return self._commit(self._stage(source))

    def _stage(self, step: Stage) -> CountedRows:
        self.ports.require_lease()
        with self.times.of(step.name, describe(step)) as timed, translating():
            table = self._held.enter_context(self._staging_table(self.load.commit.layout.staging))
            staged = self._staged(table)
            timed.rows = self._counted.read
        return staged

    def _staged(self, table: StagingTable | None) -> CountedRows:
        frames, contract = self.frames, self.load.contract
        folder = self.scratch / f"target-{self.number}" if self.number else self.scratch
        watched = watch(frames.spark, self._progress_since(self.ports.clock.monotonic()))
        with watched, interruptible(frames.spark, self.run_id):
            # Sail runs in this process, so it sees this disk.
            staged = stage(frames.rows, folder, contract, counted=frames.can_observe, table=table)
        require_clean(staged, contract)
        done = set_aside(staged, contract, self.quarantine)
        self._counted = RowCounts(read=staged.rows, quarantined=done.rows)
        texts = list(frames.discarded.told()) if frames.discarded and staged.rows else []
        if done.file is not None:
            texts.append(f"{done.rows:,} rows were set aside into {done.file}")
        for text in texts:
            self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=text))
        return done.staged

    def _carry(self, step: Carry) -> None:
        """Carry the rows into the session that will commit them, and keep it open."""
        self.ports.require_lease()
        with self.times.of(step.name, describe(step)) as timed:
            reader = self.ports.reader(step.read.connection)
            if passes(self.ports.target(step.connection), step, reader):
                # Before the session, which looks at it and has to be closed before it is dropped.
                table = self._held.enter_context(self._staging_table(step.table))
                timed.rows = pass_rows(step, reader, table, self._open(), self._carried)
            else:
                timed.rows = carry(step, reader, self._open, self.scratch, self._carried)
            self._counted = RowCounts(read=timed.rows)

    def _carried(self, count: int) -> None:
        # Whoever has lost the lease carries no further.
        self.ports.require_lease()
        self.ports.observer(BytesCarried(pipeline=self.plan.pipeline, step="carry", bytes=count))

    def _staging_table(self, rows: Table) -> AbstractContextManager[StagingTable | None]:
        into = self.load.commit
        return staging_table(
            self.ports.target(into.connection),
            rows,
            pipeline=self.plan.pipeline,
            name=into.target,
            run_id=self.run_id,
            dry=self.dry,
        )

    def _open(self) -> TargetSession:
        """Open the session that commits; rows may have to be there before it begins."""
        if self._session is None:
            target = self.ports.target(self.load.commit.connection)
            self._session = self._held.enter_context(target.open())
        return self._session

    def _commit(self, staged: CountedRows | StagedQuery) -> TargetOutcome:
        step = self.load.commit
        self.ports.require_lease()
        attempt = Attempt(
            pipeline=self.plan.pipeline,
            run_id=self.run_id,
            token=self.ports.token(step.connection),
            now=self.ports.clock.now(),
            read=self._counted.read,
            quarantined=self._counted.quarantined,
            window=self.window,
            moves_watermark=self.moves_watermark,
            quarantine=self.quarantine,
            consent=self.ports.allow_destructive,
            dry=self.dry,
        )
        with self.times.of(step.name, describe(step)) as timed, translating():
            self.on_commit()
            dialect = self.ports.target(step.connection).dialect
            done = commit(step, self._open(), dialect, staged, attempt)
            timed.rows = done.rows.changed
        return succeeded(step, done)

    def _progress_since(self, began: float) -> Callable[[StageProgress], None]:
        def progressed(progress: StageProgress) -> None:
            elapsed = self.ports.clock.monotonic() - began
            done, left = progress.done_tasks, progress.total_tasks - progress.done_tasks
            self.ports.observer(
                TasksProgressed(
                    pipeline=self.plan.pipeline,
                    step="stage",
                    done=done,
                    total=progress.total_tasks,
                    stages=progress.stages,
                    eta_seconds=elapsed / done * left if done else None,
                )
            )

        return progressed


def _query_of(step: SelectInTarget) -> StagedQuery:
    """Return what the commit has the database run, in its own session."""
    chosen = step.selection
    return StagedQuery(
        sql=chosen.sql,
        contract=step.contract,
        table=chosen.table,
        judged=chosen.judged,
        is_settled=step.is_settled,
    )
