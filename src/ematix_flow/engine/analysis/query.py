"""What a query or a function would produce, learnt from Spark without reading a row.

Every table it reads is stood in for by an empty one of the same columns, so a function that
collects or counts finds nothing; on a classic session it is told so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING
from uuid import uuid4

from ematix_flow.engine.analysis.lineage import frame_lineage
from ematix_flow.engine.spark.errors import translating
from ematix_flow.errors import NotSupported, RunsJob
from ematix_flow.plan.steps import CallFunction, ReadQuery, ReadRelation, Transform
from ematix_flow.ports import ActualColumn, StateReader
from ematix_flow.resolve.call import call_function
from ematix_flow.resolve.query import Place
from ematix_flow.resolve.signature import Argument, Role
from ematix_flow.spec.lineage import ColumnRef, Lineage
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.dialect import parse_query
from ematix_flow.sqltext.identifiers import quoted, view
from ematix_flow.sqltext.lineage import column_lineage
from ematix_flow.sqltext.references import table_references
from ematix_flow.sqltext.type_names import type_name
from ematix_flow.sqltext.type_texts import read_type
from ematix_flow.transform.frames import as_frame
from ematix_flow.transform.query import run_query
from ematix_flow.transform.udf import register_udfs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Read = ReadRelation | ReadQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The columns of the rows, and where they come from; None where the engine cannot tell."""

    frame: DataFrame
    lineage: Lineage | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.frame.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyst:
    """Analyses pipelines on one session."""

    spark: SparkSession
    state: StateReader
    _queries: dict[str, Lineage] = field(default_factory=dict)
    _tables: dict[str, str] = field(default_factory=dict)
    _views: set[str] = field(default_factory=set)
    _numbers: Iterator[int] = field(default_factory=count)

    def analyse(self, makes: Transform | CallFunction, reads: tuple[Read, ...]) -> Analysis:
        """Return what the step would produce from those reads."""
        frames = {_name(read): self._stand_in(read) for read in reads}
        self._tables.update({_name(read): read.relation for read in reads if read.relation})
        with translating(), self._without_jobs(makes):
            match makes:
                case Transform(query=query, udfs=udfs):
                    register_udfs(self.spark, udfs)
                    frame = run_query(self.spark, query, frames)
                case CallFunction():
                    frame = self._called(makes, frames)
            return Analysis(frame=frame, lineage=self._lineage(frame))

    def _called(self, step: CallFunction, frames: dict[str, DataFrame]) -> DataFrame:
        register_udfs(self.spark, step.udfs)
        arguments = {each.name: self._argument(each, step, frames) for each in step.arguments}
        return as_frame(self.spark, call_function(step.pipeline, arguments), frames, step.pipeline)

    def _argument(
        self, argument: Argument, step: CallFunction, frames: dict[str, DataFrame]
    ) -> object:
        match argument.role:
            case Role.SPARK:
                return self.spark
            case Role.PIPELINE | Role.TABLE:
                return frames[argument.name]
            case Role.TARGET:
                return str(step.pipeline.target.name)
            case Role.SOURCE:
                assert step.source_connection is not None
                assert step.source is not None
                return _EmptySource(self, step.source_connection, step.source)

    def _stand_in(self, read: Read) -> DataFrame:
        dialect = read.dialect if isinstance(read, ReadQuery) else "spark"
        name = read.relation if isinstance(read, ReadRelation) else _name(read)
        if read.facts.columns is None:
            raise NotSupported(
                f"the columns of {name} are not known without reading it ({read.facts.description})"
            )
        return self.empty(name, read.facts.columns, dialect)

    def empty(self, name: str, columns: tuple[ActualColumn, ...], dialect: str) -> DataFrame:
        """Return an empty table of these columns, known to Spark by its name."""
        schema = ", ".join(
            f"{quoted(column.name, 'spark')} {_spark_type(column, dialect)}" for column in columns
        )
        self.spark.createDataFrame([], schema).createOrReplaceTempView(view(name))
        self._views.add(name)
        return self.spark.table(view(name))

    def query(self, connection: str, place: Place, sql: str) -> DataFrame:
        """Return an empty table of the columns that *sql* has in its source."""
        if place.dialect == "spark":  # files: Spark runs it, and traces it too
            for each in table_references(parse_query(sql, dialect="spark", where="src.query")):
                self.table(connection, place, str(each))
            return self.spark.sql(sql)
        columns = self.state.describe(connection, sql)
        name = f"flow_query_{next(self._numbers)}"
        parsed = parse_query(sql, dialect=place.dialect, where=f"src.query of {connection}")
        self._queries[name] = column_lineage(parsed, dialect=place.dialect)
        return self.empty(name, columns, place.dialect)

    def table(self, connection: str, place: Place, name: str) -> DataFrame:
        """Return an empty table of the columns that a table has in its source."""
        facts = self.state.source(connection, name)
        if facts.columns is None:
            raise NotSupported(f"the columns of {name} are not known without reading it")
        return self.empty(name, facts.columns, place.dialect)

    def _lineage(self, frame: DataFrame) -> Lineage | None:
        found = frame_lineage(frame, sources=self._views)
        return _through(found, self._queries, self._tables) if found else None

    @contextmanager
    def _without_jobs(self, step: Transform | CallFunction) -> Iterator[None]:
        """Refuse code that runs a job while it is only being looked at; classic sessions tell."""
        group = f"ematix-flow-analysis-{uuid4()}"  # Spark remembers the jobs of a group
        context = getattr(self.spark, "_sc", None)
        if context is None:
            yield
            return
        context.setJobGroup(group, "ematix-flow looks at a pipeline")
        try:
            yield
            if context.statusTracker().getJobIdsForGroup(group):
                where = step.pipeline.location if isinstance(step, CallFunction) else None
                raise RunsJob(
                    "the function runs a Spark job (collect, count, show, toPandas ...) while it "
                    "is only being planned",
                    where=where,
                    hint="return the frame and let the run compute it",
                )
        finally:
            context.setLocalProperty("spark.jobGroup.id", None)


@dataclass(frozen=True, slots=True)
class _EmptySource:
    """The `src` of a function that is only being looked at."""

    analyst: Analyst
    connection: str
    place: Place

    @property
    def kind(self) -> str:
        return self.place.kind

    def table(self, name: str) -> DataFrame:
        return self.analyst.table(self.connection, self.place, name)

    def query(self, sql: str) -> DataFrame:
        return self.analyst.query(self.connection, self.place, sql)


def _through(
    lineage: Lineage, queries: Mapping[str, Lineage], tables: Mapping[str, str]
) -> Lineage:
    """Trace columns on: through queries of the source, and to tables by their own names."""

    def named(view: TableName) -> TableName:
        schema, _, name = tables.get(view.name, str(view)).rpartition(".")
        return TableName(name=name, schema=schema or None)

    def traced(reference: ColumnRef) -> tuple[ColumnRef, ...]:
        query = queries.get(reference.table.name)
        if query is None:
            return (replace(reference, table=named(reference.table)),)
        columns = (each for each in query.columns if each.column == reference.column)
        return tuple(source for each in columns for source in each.sources)

    return replace(
        lineage,
        tables=tuple(
            dict.fromkeys(
                table
                for view in lineage.tables
                for table in (queries[view.name].tables if view.name in queries else (named(view),))
            )
        ),
        columns=tuple(
            replace(
                each,
                sources=tuple(new for old in each.sources for new in traced(old)),
                rows_of=tuple(named(view) for view in each.rows_of),
            )
            for each in lineage.columns
        ),
        influences=tuple(
            replace(each, column=new) for each in lineage.influences for new in traced(each.column)
        ),
    )


def _name(read: Read) -> str:
    if isinstance(read, ReadRelation):
        return read.known_as or read.relation
    return read.known_as or ""


def _spark_type(column: ActualColumn, dialect: str) -> str:
    if dialect == "spark":
        return column.type
    kind = read_type(column.type, dialect)
    if kind is None:
        raise NotSupported(
            f"column {column.name!r} is {column.type}, which none of our types holds",
            hint="CAST it in a query of the source",
        )
    return type_name(kind, "spark")
