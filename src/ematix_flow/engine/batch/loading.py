"""Loading one target: its rows are staged by one job and committed in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path

from ematix_flow.engine.batch.frame_steps import FrameSteps
from ematix_flow.engine.batch.groups import TargetSteps
from ematix_flow.engine.batch.outcome import succeeded
from ematix_flow.engine.batch.ports import BatchPorts
from ematix_flow.engine.batch.step_times import StepTimes
from ematix_flow.engine.spark.errors import translating
from ematix_flow.engine.spark.interrupt import interruptible
from ematix_flow.engine.spark.progress import StageProgress, watch
from ematix_flow.observe.events import BytesCarried, Noticed, TasksProgressed
from ematix_flow.plan.explain import describe
from ematix_flow.plan.plan import Plan
from ematix_flow.plan.steps import Carry, Commit, SelectInTarget, Stage, Step
from ematix_flow.ports import (
    PassesRows,
    Reader,
    ReadsWithoutSpark,
    StagedQuery,
    StagedRows,
    StagesInTable,
    StagingTable,
    Target,
    TargetSession,
)
from ematix_flow.record.run import TargetOutcome, Window
from ematix_flow.spec.counts import RowCounts
from ematix_flow.spec.table import Table
from ematix_flow.write.carry import carry
from ematix_flow.write.commit import Attempt, commit
from ematix_flow.write.quarantine import set_aside
from ematix_flow.write.staging import require_clean, stage
from ematix_flow.write.staging_table import staging_table


@dataclass(slots=True, kw_only=True)
class Loading:
    """The load of one target.

    :param number: Which of the run's targets it is.
    :param quarantine: The file for rows that are set aside.
    :param made: The rows as the steps so far describe them.
    :param walk: Takes a step that only describes rows.
    :param on_commit: Called when the commit begins.
    """

    plan: Plan
    run_id: str
    number: int
    target: TargetSteps
    ports: BatchPorts
    times: StepTimes
    scratch: Path
    quarantine: Path
    window: Window
    moves_watermark: bool
    dry: bool
    made: Callable[[], FrameSteps]
    walk: Callable[[Step], None]
    on_commit: Callable[[], None]
    _stage_began: float = 0.0
    _session: TargetSession | None = None

    def carry_out(self) -> TargetOutcome:
        """Stage and commit; return what became of it."""
        staged: StagedRows | None = None
        with ExitStack() as held:
            for step in self.target.steps:
                match step:
                    case Stage():
                        self.ports.require_lease()
                        with self.times.of(step.name, describe(step)), translating():
                            rows = self.target.commit.layout.staging
                            table = held.enter_context(self._staging_table(rows))
                            staged = self._stage(table)
                    case Carry():
                        self.ports.require_lease()
                        with self.times.of(step.name, describe(step)):
                            self._carry(step, held)
                    case SelectInTarget():
                        staged = StagedRows(rows=0, query=_query_of(step))
                    case Commit():
                        assert staged is not None
                        self.ports.require_lease()
                        with self.times.of(step.name, describe(step)), translating():
                            return self._commit(step, staged)
                    case _:
                        self.walk(step)
        raise AssertionError("the last step of a target is its commit")

    def _stage(self, table: StagingTable | None) -> StagedRows:
        made, contract = self.made(), self.target.contract
        folder = self.scratch / f"target-{self.number}" if self.number else self.scratch
        self._stage_began = self.ports.clock.monotonic()
        with watch(made.spark, self._progressed), interruptible(made.spark, self.run_id):
            # Sail runs in this process, so it sees this disk.
            staged = stage(made.rows, folder, contract, counted=made.can_observe, table=table)
        require_clean(staged, contract)
        done = set_aside(staged, contract, self.quarantine)
        self.times.rows = RowCounts(read=staged.rows, quarantined=done.rows)
        texts = list(made.discarded.told()) if made.discarded and staged.rows else []
        if done.file is not None:
            texts.append(f"{done.rows:,} rows were set aside into {done.file}")
        for text in texts:
            self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=text))
        return done.staged

    def _carry(self, step: Carry, held: ExitStack) -> None:
        """Carry the rows into the session that will commit them, and keep it open."""
        reader = self.ports.reader(step.read.connection)
        target = self._committed_to(step.connection)

        def opening() -> TargetSession:
            self._session = held.enter_context(target.open())
            return self._session

        if _passes(target, step, reader):
            rows = self._pass_rows(step, reader, held, opening())
        else:
            assert isinstance(reader, ReadsWithoutSpark)  # or there were no such step
            rows = carry(step, reader, opening, self.scratch, self._carried)
        self.times.rows = RowCounts(read=rows)

    def _pass_rows(
        self, step: Carry, reader: Reader, held: ExitStack, session: TargetSession
    ) -> int:
        """Let one server fill a table of the other, and show it to the session."""
        table = held.enter_context(self._staging_table(step.table))
        assert isinstance(table, PassesRows)
        staged = table.pass_rows(reader, step.read.query, self._carried)
        session.show_staging(staged, step.table, step.relation)
        return staged.rows

    def _carried(self, count: int) -> None:
        self.ports.observer(BytesCarried(pipeline=self.plan.pipeline, step="carry", bytes=count))

    def _committed_to(self, connection: str) -> Target:
        return (self.ports.commits_to or self.ports.target)(connection)

    def _staging_table(self, rows: Table) -> AbstractContextManager[StagingTable | None]:
        into = self.target.commit
        return staging_table(
            self.ports.target(into.connection),
            rows,
            pipeline=self.plan.pipeline,
            name=into.target,
            run_id=self.run_id,
        )

    def _commit(self, step: Commit, staged: StagedRows) -> TargetOutcome:
        self.on_commit()
        attempt = Attempt(
            pipeline=self.plan.pipeline,
            run_id=self.run_id,
            token=self.ports.token(step.connection),
            now=self.ports.clock.now(),
            read=self.times.rows.read,
            quarantined=self.times.rows.quarantined,
            window=self.window,
            moves_watermark=self.moves_watermark,
            quarantine=self.quarantine,
            consent=self.ports.allow_destructive,
            dry=self.dry,
        )
        target = self._committed_to(step.connection)
        if self._session is not None:
            target = _Opened(target, self._session)
        done = commit(step, target, staged, attempt)
        self.times.rows = done.rows
        return succeeded(step, done)

    def _progressed(self, progress: StageProgress) -> None:
        elapsed = self.ports.clock.monotonic() - self._stage_began
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


def _passes(target: Target, step: Carry, reader: Reader) -> bool:
    """Tell whether the source's server can fill a table of the target's."""
    if not isinstance(target, StagesInTable):
        return False
    table = target.staging_table(step.relation, step.table)
    return isinstance(table, PassesRows) and table.passes_from(reader)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A target that is open already; whoever opened it closes it."""

    target: Target
    session: TargetSession

    @property
    def dialect(self) -> str:
        return self.target.dialect

    def exists(self) -> bool:
        return True

    def open(self) -> AbstractContextManager[TargetSession]:
        return nullcontext(self.session)

    def open_read_only(self) -> AbstractContextManager[TargetSession]:
        return nullcontext(self.session)


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
