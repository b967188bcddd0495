"""Walking the steps of a batch plan.

The same steps that `explain` prints, one after the other. Reading, transforming and
judging only describe the work; `stage` runs the one Spark job, `commit` the one transaction.
Each target is staged and committed for itself, so one that fails undoes no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from ematix_flow._base.clock import Clock
from ematix_flow.engine.groups import TargetSteps, by_target
from ematix_flow.engine.interrupt import interrupt, interruptible
from ematix_flow.engine.opened import EngineReport, OpenEngine
from ematix_flow.engine.outcome import failed, succeeded
from ematix_flow.engine.progress import StageProgress, watch
from ematix_flow.engine.spark_errors import translating
from ematix_flow.errors import QueryError
from ematix_flow.observe.events import Noticed, Observer, StepEnded, StepStarted, TasksProgressed
from ematix_flow.plan.explain import describe
from ematix_flow.plan.plan import Plan
from ematix_flow.plan.steps import (
    Arrange,
    CallAfter,
    CallFunction,
    Commit,
    Normalize,
    Prepare,
    ReadQuery,
    ReadRelation,
    Reshape,
    Restrict,
    RunAfter,
    SelectInTarget,
    Stage,
    Step,
    Transform,
    Validate,
)
from ematix_flow.ports import (
    LedgerEntry,
    Reader,
    StagedQuery,
    StagedRows,
    StagingTable,
    Target,
)
from ematix_flow.read.batch import read
from ematix_flow.read.frames import SourceFrames
from ematix_flow.record.run import StepRecord, TargetOutcome, Window
from ematix_flow.resolve.call import call_function
from ematix_flow.resolve.signature import Argument, Role
from ematix_flow.spec.counts import RowCounts
from ematix_flow.transform.arrange import arrange
from ematix_flow.transform.frames import as_frame
from ematix_flow.transform.normalize import normalize
from ematix_flow.transform.query import run_query
from ematix_flow.transform.reshape import reshape
from ematix_flow.transform.udf import register_udfs
from ematix_flow.transform.window import restrict
from ematix_flow.validate.contract import judge
from ematix_flow.validate.discarded import DiscardedValues
from ematix_flow.write.after import call_after, run_after
from ematix_flow.write.commit import Attempt, commit
from ematix_flow.write.quarantine import set_aside
from ematix_flow.write.staging import require_clean, stage
from ematix_flow.write.staging_table import staging_table

if TYPE_CHECKING:
    from pyarrow import Table
    from pyspark.sql import DataFrame

OpenEngineLate = Callable[[], AbstractContextManager[OpenEngine]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPorts:
    """Who does the work that a walk only orders.

    :param token: The fence's token of a connection, which its commit has to show.
    :param commits_to: What is committed to, where it is not the target itself.
    :param require_lease: Raises when somebody else has taken the pipeline over.
    """

    reader: Callable[[str], Reader]
    target: Callable[[str], Target]
    open_engine: OpenEngineLate
    observer: Observer
    clock: Clock
    on_step: Callable[[StepRecord], None]
    on_engine: Callable[[EngineReport], None]
    token: Callable[[str], int]
    require_lease: Callable[[], None]
    commits_to: Callable[[str], Target] | None = None
    allow_destructive: bool = False


@dataclass(slots=True, kw_only=True)
class BatchWalk:
    """One run of one plan; each field is what the steps so far have produced.

    :param quarantine: The file for rows that are set aside, by the number of the target.
    :param landed: What each target has of this run already, from an earlier attempt.
    :param goes_on: Whether the failure of one target leaves the others to be loaded.
    :param window: The part of the incremental column that is read: above, and up to.
    :param moves_watermark: Whether later runs go on from where this one ends.
    :param dry: Count everything, then undo it; nothing is created or changed on the target.
    """

    plan: Plan
    run_id: str
    scratch: Path
    quarantine: Callable[[int], Path]
    ports: BatchPorts
    landed: tuple[LedgerEntry | None, ...]
    goes_on: bool = False
    window: Window = (None, None)
    moves_watermark: bool = True
    dry: bool = False
    outcomes: dict[int, TargetOutcome] = field(default_factory=dict)
    commit_began: bool = False
    rows: RowCounts = field(default_factory=RowCounts)
    is_after: bool = False
    _failures: list[Exception] = field(default_factory=list)
    _engine: OpenEngine | None = None
    _relations: dict[str, DataFrame] = field(default_factory=dict)
    _frame: DataFrame | None = None
    _discarded: DiscardedValues | None = None
    _stage_began: float = 0.0
    _reads: int = 0
    _held: ExitStack = field(default_factory=ExitStack)

    def walk(self) -> None:
        """Walk all steps; *outcomes* says what became of each target, also when this raises."""
        grouped = by_target(self.plan.steps)
        for number, done in enumerate(self.landed):
            if done is not None:
                self.outcomes[number] = succeeded(grouped.targets[number].commit, done)
        with self._held:
            for number, each in () if self.dry else self._waiting(grouped.targets):
                with self._outcome_of(number, each):
                    self._walk(each.prepare)
            if waiting := self._waiting(grouped.targets):
                for step in grouped.shared:
                    self._walk(step)
                self._keep_rows(times=len(waiting))
            made = self._frame
            for number, each in waiting:
                self._frame = made
                with self._outcome_of(number, each):
                    self._load(number, each)
            if self._failures:
                raise self._failures[0]
            self.is_after = True
            for step in () if self.dry else grouped.after:
                self._walk(step)

    def judged(self, rows: int) -> Table:
        """Return the first *rows* as they would be staged for the first target; writes nothing."""
        grouped = by_target(self.plan.steps)
        with self._held:
            for step in grouped.shared:
                self._walk(step)
            assert self._frame is not None
            self._frame = self._frame.limit(rows)
            for step in grouped.targets[0].steps:
                if not isinstance(step, Stage | Commit):
                    self._walk(step)
            with translating():
                found: Table = self._frame.limit(rows).toArrow()
            return found

    def interrupt(self) -> None:
        """End Spark's work; called by another thread."""
        if self._engine is not None:
            interrupt(self._engine.session, self.run_id)

    def in_order(self) -> tuple[TargetOutcome, ...]:
        """Return what became of the targets, in the order of their declaration."""
        return tuple(self.outcomes[number] for number in sorted(self.outcomes))

    def _waiting(self, targets: tuple[TargetSteps, ...]) -> list[tuple[int, TargetSteps]]:
        return [pair for pair in enumerate(targets) if pair[0] not in self.outcomes]

    @contextmanager
    def _outcome_of(self, number: int, steps: TargetSteps) -> Iterator[None]:
        """Keep the failure of one target from the others, where that is wanted."""
        try:
            yield
        except Exception as error:
            # Whatever it looks like, it was ended because the lease was lost.
            self.ports.require_lease()
            self.outcomes[number] = failed(steps.commit, error)
            if not self.goes_on or len(self.landed) == 1:
                raise
            self._failures.append(error)
            text = f"{steps.commit.target} failed, the other targets go on: {error}"
            self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=text))

    def _keep_rows(self, *, times: int) -> None:
        """Compute rows once that several targets take: two of them must not see two sources."""
        if times > 1 and self._frame is not None and self._is_spark:
            self._frame = self._frame.persist()
            self._held.callback(self._frame.unpersist)

    def _walk(self, step: Step) -> None:
        self.ports.require_lease()
        if self._engine is None and not isinstance(step, Prepare | RunAfter):
            self._open_engine()
        with self._timed(step.name, describe(step)), translating():
            self._do(step)

    def _open_engine(self) -> None:
        """Open it as late as possible: a busy target or a lost race costs no JVM."""
        with self._timed("engine", "start or reach Spark"):
            self._engine = self._held.enter_context(self.ports.open_engine())
        self.ports.on_engine(self._engine.report)
        for note in self._engine.report.notes:
            self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=note))

    def _do(self, step: Step) -> None:  # noqa: C901  # one case per step
        match step:
            case Prepare():
                self._prepare(step)
            case ReadRelation() | ReadQuery():
                self._read(step)
            case Transform(query=query, udfs=udfs):
                register_udfs(self._spark, udfs)
                self._frame = run_query(self._spark, query, self._relations)
            case CallFunction():
                self._call(step)
            case Restrict(window=window, location=location):
                assert self._frame is not None
                self._frame = restrict(self._frame, window, location)
            case Reshape():
                assert self._frame is not None
                self._frame = reshape(self._spark, self._frame, step)
            case Arrange():
                assert self._frame is not None
                self._frame = arrange(self._frame, step)
            case Normalize(table=table):
                assert self._frame is not None
                self._frame = normalize(self._frame, table)
            case Validate(contract=contract, as_json=as_json):
                assert self._frame is not None
                # Sail cannot count in passing; `plan` names the columns there too.
                self._discarded = DiscardedValues(contract) if self._is_spark else None
                self._frame = judge(
                    self._frame, contract, as_json=as_json, discarded=self._discarded
                )
            case RunAfter() | CallAfter():
                self._after(step)
            case Stage() | SelectInTarget() | Commit():
                raise AssertionError("these belong to a target")
            case _:
                assert_never(step)

    def _prepare(self, step: Prepare) -> None:
        with self.ports.target(step.connection).open() as session:
            agreed = step.optional if self.ports.allow_destructive else ()
            for statement in (*step.ddl, *step.destructive, *agreed):
                session.execute(statement)

    def _after(self, step: RunAfter | CallAfter) -> None:
        target = self.ports.target(step.connection)
        try:
            if isinstance(step, RunAfter):
                run_after(target, step.sql)
            else:
                call_after(step, target, self._spark)
        except Exception as error:
            if not step.goes_on:
                raise
            text = f"the rows are loaded, but a step after it failed: {error}"
            self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=text))

    # One target --------------------------------------------------------------------------------

    def _load(self, number: int, target: TargetSteps) -> None:
        staged: StagedRows | None = None
        with ExitStack() as held:
            for step in target.steps:
                match step:
                    case Stage():
                        self.ports.require_lease()
                        with self._timed(step.name, describe(step)), translating():
                            table = held.enter_context(self._staging_table(target.commit))
                            staged = self._stage(number, target, table)
                    case SelectInTarget():
                        staged = StagedRows(rows=0, query=_query_of(step))
                    case Commit():
                        assert staged is not None
                        self.ports.require_lease()
                        with self._timed(step.name, describe(step)), translating():
                            self._commit(number, step, staged)
                    case _:
                        self._walk(step)

    def _stage(self, number: int, target: TargetSteps, table: StagingTable | None) -> StagedRows:
        assert self._frame is not None
        contract = target.contract
        folder = self.scratch / f"target-{number}" if number else self.scratch
        self._stage_began = self.ports.clock.monotonic()
        with watch(self._spark, self._progressed), interruptible(self._spark, self.run_id):
            staged = stage(self._frame, folder, contract, counted=self._is_spark, table=table)
        require_clean(staged, contract)
        done = set_aside(staged, contract, self.quarantine(number))
        self.rows = RowCounts(read=staged.rows, quarantined=done.rows)
        texts = list(self._discarded.told()) if self._discarded and staged.rows else []
        if done.file is not None:
            texts.append(f"{done.rows:,} rows were set aside into {done.file}")
        for text in texts:
            self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=text))
        return done.staged

    def _staging_table(self, into: Commit) -> AbstractContextManager[StagingTable | None]:
        return staging_table(
            self.ports.target(into.connection),
            into.layout.staging,
            pipeline=self.plan.pipeline,
            name=into.target,
            run_id=self.run_id,
        )

    def _commit(self, number: int, step: Commit, staged: StagedRows) -> None:
        self.commit_began = True
        attempt = Attempt(
            pipeline=self.plan.pipeline,
            run_id=self.run_id,
            token=self.ports.token(step.connection),
            now=self.ports.clock.now(),
            read=self.rows.read,
            quarantined=self.rows.quarantined,
            window=self.window,
            moves_watermark=self.moves_watermark,
            quarantine=self.quarantine(number),
            consent=self.ports.allow_destructive,
            dry=self.dry,
        )
        target = (self.ports.commits_to or self.ports.target)(step.connection)
        done = commit(step, target, staged, attempt)
        self.rows = done.rows
        self.outcomes[number] = succeeded(step, done)

    # Reading -----------------------------------------------------------------------------------

    def _read(self, step: ReadRelation | ReadQuery) -> None:
        reader = self.ports.reader(step.connection)
        try:
            frame = read(step, reader, self._spark, self._new_scratch(), self._held)
        except QueryError as error:
            # The user's line is where it can be mended; which database refused is said in words.
            error.what = f"source {step.connection!r}: {error.what}"
            error.where = self.plan.location
            raise
        if isinstance(step, ReadRelation):
            self._relations[step.known_as or step.relation] = frame
        elif step.known_as is not None:
            self._relations[step.known_as] = frame
        else:
            self._frame = frame

    def _new_scratch(self) -> Path:
        """Return a folder of its own for what one read spools."""
        self._reads += 1
        return self.scratch / f"read-{self._reads}"

    def _call(self, step: CallFunction) -> None:
        register_udfs(self._spark, step.udfs)
        arguments = {each.name: self._argument(each, step) for each in step.arguments}
        returned = call_function(step.pipeline, arguments)
        self._frame = as_frame(self._spark, returned, self._relations, step.pipeline)

    def _argument(self, argument: Argument, step: CallFunction) -> object:
        match argument.role:
            case Role.SPARK:
                return self._spark
            case Role.PIPELINE | Role.TABLE:
                return self._relations[argument.name]
            case Role.TARGET:
                return str(step.pipeline.target.name)
            case Role.SOURCE:
                assert step.source_connection is not None
                assert step.source is not None
                in_source = step.source.dialect != "spark"
                return SourceFrames(
                    connection=step.source_connection,
                    kind=step.source.kind,
                    dialect=step.source.dialect if in_source else None,
                    reader=self.ports.reader(step.source_connection),
                    spark=self._spark,
                    scratch=self._new_scratch,
                )

    # The engine --------------------------------------------------------------------------------

    @property
    def _spark(self):  # type: ignore[no-untyped-def]  # noqa: ANN202  # a SparkSession of either kind
        assert self._engine is not None
        return self._engine.session

    @property
    def _is_spark(self) -> bool:
        # Sail has no `observe` and no `persist`; it runs in this process, so it sees this disk.
        assert self._engine is not None
        return self._engine.report.engine != "sail"

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

    @contextmanager
    def _timed(self, step: str, description: str) -> Iterator[None]:
        clock, observer, pipeline = self.ports.clock, self.ports.observer, self.plan.pipeline
        observer(StepStarted(pipeline=pipeline, step=step, description=description))
        start = clock.monotonic()
        yield
        seconds = round(clock.monotonic() - start, 3)
        rows = {"stage": self.rows.read, "commit": self.rows.inserted}.get(step)
        self.ports.on_step(StepRecord(step=step, seconds=seconds, rows=rows))
        observer(StepEnded(pipeline=pipeline, step=step, seconds=seconds, rows=rows))


def _query_of(step: SelectInTarget) -> StagedQuery:
    """Return what the commit has the database run, in its own session."""
    chosen = step.selection
    return StagedQuery(
        sql=chosen.sql, contract=step.contract, table=chosen.table, judged=chosen.judged
    )
