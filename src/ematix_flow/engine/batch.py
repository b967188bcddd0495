"""Walking the steps of a batch plan.

The same steps that `explain` prints, one after the other. Reading, transforming and
judging only describe the work; `stage` runs the one Spark job, `commit` the one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from ematix_flow._base.clock import Clock
from ematix_flow.engine.opened import EngineReport, OpenEngine
from ematix_flow.engine.progress import StageProgress, watch
from ematix_flow.engine.spark_errors import translating
from ematix_flow.errors import QueryError
from ematix_flow.observe.events import Noticed, Observer, StepEnded, StepStarted, TasksProgressed
from ematix_flow.plan.explain import describe
from ematix_flow.plan.plan import Plan
from ematix_flow.plan.steps import (
    CallFunction,
    Commit,
    Normalize,
    Prepare,
    ReadQuery,
    ReadRelation,
    Stage,
    Step,
    Transform,
    Validate,
)
from ematix_flow.ports import Reader, StagedRows, Target
from ematix_flow.read.batch import read
from ematix_flow.read.frames import SourceFrames
from ematix_flow.record.run import RowCounts, StepRecord
from ematix_flow.resolve.call import call_function
from ematix_flow.resolve.signature import Argument, Role
from ematix_flow.sqltext.bookkeeping import bookkeeping
from ematix_flow.transform.frames import as_frame
from ematix_flow.transform.normalize import normalize
from ematix_flow.transform.query import run_query
from ematix_flow.transform.udf import register_udfs
from ematix_flow.validate.contract import judge
from ematix_flow.write.commit import commit
from ematix_flow.write.fence import take_fence
from ematix_flow.write.quarantine import set_aside
from ematix_flow.write.staging import require_clean, stage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OpenEngineLate = Callable[[], AbstractContextManager[OpenEngine]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPorts:
    """Who does the work that a walk only orders."""

    reader: Callable[[str], Reader]
    target: Callable[[str], Target]
    open_engine: OpenEngineLate
    observer: Observer
    clock: Clock
    on_step: Callable[[StepRecord], None]
    on_engine: Callable[[EngineReport], None]
    allow_destructive: bool = False


@dataclass(slots=True)
class BatchWalk:
    """One run of one plan; each field is what the steps so far have produced.

    :param quarantine: The file for rows that are set aside.
    """

    plan: Plan
    run_id: str
    scratch: Path
    quarantine: Path
    ports: BatchPorts
    rows: RowCounts = field(default_factory=RowCounts)
    commit_began: bool = False
    _engine: OpenEngine | None = None
    _token: int = 0
    _relations: dict[str, DataFrame] = field(default_factory=dict)
    _frame: DataFrame | None = None
    _validated: Validate | None = None
    _staged: StagedRows | None = None
    _stage_began: float = 0.0
    _reads: int = 0

    def walk(self) -> RowCounts:
        """Walk all steps and return the exact counts."""
        with ExitStack() as stack:
            for step in self.plan.steps:
                if self._engine is None and not isinstance(step, Prepare):
                    # As late as possible: a busy target or a lost race costs no JVM.
                    with self._timed("engine", "start or reach Spark"):
                        self._engine = stack.enter_context(self.ports.open_engine())
                    self.ports.on_engine(self._engine.report)
                    for note in self._engine.report.notes:
                        self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=note))
                with self._timed(step.name, describe(step)), translating():
                    self._do(step)
        return self.rows

    def _do(self, step: Step) -> None:
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
            case Normalize(table=table):
                assert self._frame is not None
                self._frame = normalize(self._frame, table)
            case Validate(contract=contract, as_json=as_json):
                assert self._frame is not None
                self._frame = judge(self._frame, contract, as_json=as_json)
                self._validated = step
            case Stage():
                self._stage()
            case Commit():
                self._commit(step)
            case _:
                assert_never(step)

    def _prepare(self, step: Prepare) -> None:
        target = self.ports.target(step.connection)
        with target.open() as session:
            agreed = step.optional if self.ports.allow_destructive else ()
            for statement in (*step.ddl, *step.destructive, *agreed):
                session.execute(statement)
            self._token = take_fence(session, bookkeeping(target.dialect), self.plan.pipeline)

    def _read(self, step: ReadRelation | ReadQuery) -> None:
        reader = self.ports.reader(step.connection)
        try:
            frame = read(step, reader, self._spark, self._new_scratch())
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

    def _stage(self) -> None:
        assert self._frame is not None
        assert self._validated is not None
        self._stage_began = self.ports.clock.monotonic()
        with watch(self._spark, self._progressed):
            self._staged = stage(self._frame, self.scratch, counted=self._can_observe)
        contract = self._validated.contract
        require_clean(self._staged, contract)
        read = self._staged.rows
        done = set_aside(self._staged, contract, self.quarantine)
        self._staged = done.staged
        self.rows = RowCounts(read=read, quarantined=done.rows)
        if done.file is not None:
            text = f"{done.rows:,} rows were set aside into {done.file}"
            self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=text))

    def _commit(self, step: Commit) -> None:
        assert self._staged is not None
        self.commit_began = True
        done = commit(
            step,
            self.ports.target(step.connection),
            self._staged,
            pipeline=self.plan.pipeline,
            run_id=self.run_id,
            token=self._token,
            now=self.ports.clock.now(),
        )
        self.rows = replace(self.rows, inserted=done.inserted, deleted=done.deleted)

    @property
    def _spark(self):  # type: ignore[no-untyped-def]  # noqa: ANN202  # a SparkSession of either kind
        assert self._engine is not None
        return self._engine.session

    @property
    def _can_observe(self) -> bool:
        # Sail has no `observe`; it runs in this process, so it sees this disk.
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
