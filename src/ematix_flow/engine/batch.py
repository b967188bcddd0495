"""Walking the steps of a batch plan.

The same steps that `explain` prints, one after the other. Reading, transforming and
judging only describe the work; `stage` runs the one Spark job, `commit` the one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from ematix_flow._base.clock import Clock
from ematix_flow.engine.opened import EngineReport, OpenEngine
from ematix_flow.engine.progress import StageProgress, watch
from ematix_flow.engine.spark_errors import translating
from ematix_flow.observe.events import Noticed, Observer, StepEnded, StepStarted, TasksProgressed
from ematix_flow.plan.explain import describe
from ematix_flow.plan.steps import (
    Commit,
    Plan,
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
from ematix_flow.record.run import RowCounts, StepRecord
from ematix_flow.sqltext.bookkeeping import Bookkeeping
from ematix_flow.transform.query import run_query
from ematix_flow.validate.contract import judge
from ematix_flow.write.commit import commit
from ematix_flow.write.fence import take_fence
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


@dataclass(slots=True)
class BatchWalk:
    """One run of one plan; each field is what the steps so far have produced."""

    plan: Plan
    run_id: str
    scratch: Path
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
                frame = read(step, self.ports.reader(step.connection), self._spark, self.scratch)
                if isinstance(step, ReadRelation):
                    self._relations[step.relation] = frame
                else:
                    self._frame = frame
            case Transform(query=query):
                self._frame = run_query(self._spark, query, self._relations)
            case Validate(contract=contract):
                assert self._frame is not None
                self._frame, self._validated = judge(self._frame, contract), step
            case Stage():
                self._stage()
            case Commit():
                self._commit(step)
            case _:
                assert_never(step)

    def _prepare(self, step: Prepare) -> None:
        target = self.ports.target(step.connection)
        with target.open() as session:
            for statement in step.ddl:
                session.execute(statement)
            self._token = take_fence(session, Bookkeeping(target.dialect), self.plan.pipeline)

    def _stage(self) -> None:
        assert self._frame is not None
        assert self._validated is not None
        self._stage_began = self.ports.clock.monotonic()
        with watch(self._spark, self._progressed):
            self._staged = stage(self._frame, self.scratch, counted=self._can_observe)
        require_clean(self._staged, self._validated.contract)
        self.rows = RowCounts(read=self._staged.rows)

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
        self.rows = RowCounts(read=self._staged.rows, inserted=done.inserted, deleted=done.deleted)

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
