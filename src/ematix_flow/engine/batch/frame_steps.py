"""The steps that describe a run's rows, from reading to judging; none of them computes one.

Spark does all of it at once, in the job that `stage` runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from ematix_flow.engine.batch.ports import BatchPorts
from ematix_flow.engine.batch.step_times import StepTimes
from ematix_flow.engine.spark.errors import translating
from ematix_flow.engine.spark.interrupt import interrupt
from ematix_flow.engine.spark.opened import OpenEngine
from ematix_flow.errors import QueryError
from ematix_flow.observe.events import Noticed
from ematix_flow.plan.explain import describe
from ematix_flow.plan.plan import Plan
from ematix_flow.plan.steps import (
    Arrange,
    CallFunction,
    Normalize,
    ReadQuery,
    ReadRelation,
    Reshape,
    Restrict,
    RowStep,
    TargetStep,
    Transform,
    Validate,
)
from ematix_flow.read.batch import read, rows_of_query
from ematix_flow.read.frames import SourceFrames
from ematix_flow.resolve.call import call_function
from ematix_flow.resolve.query import Place
from ematix_flow.resolve.signature import Argument, Role
from ematix_flow.transform.frames import as_frame
from ematix_flow.transform.query import run_query
from ematix_flow.transform.shape import shaped
from ematix_flow.transform.udf import register_udfs
from ematix_flow.validate.contract import judge
from ematix_flow.validate.discarded import DiscardedValues

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FrameStep = RowStep | TargetStep


@dataclass(slots=True, kw_only=True)
class FrameSteps:
    """The rows as far as the steps have described them.

    The engine is opened by the first step that needs it: a busy target or a lost race costs no
    JVM, and a load without Spark never has one.

    :param held: What stays open until the run has ended.
    :param sources: What is open in the sources, until the rows are no longer needed.
    """

    plan: Plan
    ports: BatchPorts
    times: StepTimes
    scratch: Path
    held: ExitStack
    sources: ExitStack
    frame: DataFrame | None = None
    discarded: DiscardedValues | None = None
    _engine: OpenEngine | None = None
    _relations: dict[str, DataFrame] = field(default_factory=dict)
    _reads: int = 0

    def walk(self, step: FrameStep) -> None:
        """Take one step, timed."""
        self.ports.require_lease()
        self._open()
        with self.times.of(step.name, describe(step)), translating():
            self.do(step)

    def interrupt(self, run_id: str) -> None:
        """End Spark's work; called by another thread."""
        if self._engine is not None:
            interrupt(self._engine.session, run_id)

    @property
    def spark(self) -> SparkSession:
        """The session of the run."""
        return self._open().session

    @property
    def can_observe(self) -> bool:
        """Whether it is Spark itself: Sail has no `observe` and no `persist`."""
        return self._open().report.engine != "sail"

    @property
    def rows(self) -> DataFrame:
        """The rows as they are described now."""
        assert self.frame is not None
        return self.frame

    def do(self, step: FrameStep) -> None:
        """Describe the rows one step further."""
        match step:
            case ReadRelation() | ReadQuery():
                self._read(step)
            case Transform(query=query, udfs=udfs):
                register_udfs(self.spark, udfs)
                self.frame = run_query(self.spark, query, self._relations)
            case CallFunction():
                self._call(step)
            case Restrict() | Reshape() | Arrange() | Normalize():
                self.frame = shaped(self.spark, self.rows, step)
            case Validate():
                self._judge(step)
            case _:
                assert_never(step)

    def keep(self) -> None:
        """Compute the rows once, though they are used several times."""
        if self.can_observe:
            self.frame = self.rows.persist()
            self.sources.callback(self.frame.unpersist)

    def _judge(self, step: Validate) -> None:
        # Sail cannot count in passing; `plan` names the columns there too.
        self.discarded = DiscardedValues(step.contract) if self.can_observe else None
        self.frame = judge(self.rows, step.contract, as_json=step.as_json, discarded=self.discarded)

    def _read(self, step: ReadRelation | ReadQuery) -> None:
        with self._naming(step.connection):
            reader = self.ports.reader(step.connection)
            frame = read(step, reader, self.spark, self._new_scratch(), self.sources)
        if isinstance(step, ReadRelation):
            self._relations[step.known_as or step.relation] = frame
        elif step.known_as is not None:
            self._relations[step.known_as] = frame
        else:
            self.frame = frame

    @contextmanager
    def _naming(self, connection: str) -> Iterator[None]:
        """Say of a query that is refused where it can be mended, and which source refused it."""
        try:
            yield
        except QueryError as error:
            error.what = f"source {connection!r}: {error.what}"
            error.where = self.plan.location
            raise

    def _new_scratch(self) -> Path:
        """Return a folder of its own for what one read spools."""
        self._reads += 1
        return self.scratch / f"read-{self._reads}"

    def _call(self, step: CallFunction) -> None:
        register_udfs(self.spark, step.udfs)
        arguments = {each.name: self._argument(each, step) for each in step.arguments}
        returned = call_function(step.pipeline, arguments)
        self.frame = as_frame(self.spark, returned, self._relations, step.pipeline)

    def _argument(self, argument: Argument, step: CallFunction) -> object:
        match argument.role:
            case Role.SPARK:
                return self.spark
            case Role.PIPELINE | Role.TABLE:
                return self._relations[argument.name]
            case Role.TARGET:
                return str(step.pipeline.target.name)
            case Role.SOURCE:
                assert step.source_connection is not None
                assert step.source is not None
                return self._source(step.source_connection, step.source)

    def _source(self, connection: str, place: Place) -> SourceFrames:
        def run(query: str) -> DataFrame:
            with self._naming(connection):
                reader = self.ports.reader(connection)
                return rows_of_query(reader, self.spark, query, self._new_scratch(), self.sources)

        return SourceFrames(
            connection=connection,
            kind=place.kind,
            dialect=None if place.dialect == "spark" else place.dialect,
            reader=self.ports.reader(connection),
            spark=self.spark,
            run=run,
        )

    def _open(self) -> OpenEngine:
        if self._engine is None:
            with self.times.of("engine", "start or reach Spark"):
                self._engine = self.held.enter_context(self.ports.open_engine())
            self.ports.on_engine(self._engine.report)
            for note in self._engine.report.notes:
                self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=note))
        return self._engine
