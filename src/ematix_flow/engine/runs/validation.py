"""A pipeline's query against its source, without a row read."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ematix_flow.engine.analysis.query import Analysis, Analyst
from ematix_flow.engine.spark.errors import translating
from ematix_flow.engine.spark.opened import OpenEngine
from ematix_flow.errors import FlowError, RunsJob
from ematix_flow.plan.columns import match_result, may_reshape
from ematix_flow.plan.plan import Plan
from ematix_flow.plan.steps import (
    CallFunction,
    ReadQuery,
    ReadRelation,
    Reshape,
    Restrict,
    SelectInTarget,
    Transform,
    Validate,
)
from ematix_flow.ports import StateReader
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.transform.shape import shaped
from ematix_flow.validate.contract import judge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OpenLate = Callable[[], AbstractContextManager[OpenEngine]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """What was found out about one pipeline."""

    pipeline: str
    analysed_by: str | None = None
    columns: tuple[str, ...] = ()
    not_analysed: str | None = None
    error: FlowError | None = None

    @property
    def text(self) -> str:
        """Say it in a line, or in the error's own lines."""
        if self.error is not None:
            return str(self.error)
        if self.not_analysed is not None:
            return f"planned, not analysed: {self.not_analysed}"
        return f"ok, {self.analysed_by} returns {', '.join(self.columns)}"

    def to_json(self) -> dict[str, object]:
        """Return the stable form."""
        return {
            "pipeline": self.pipeline,
            "ok": self.error is None,
            "analysed_by": self.analysed_by,
            "columns": list(self.columns),
            "not_analysed": self.not_analysed,
            "error": self.error.to_json() if self.error else None,
        }


def validate_plan(
    plan: Plan, pipeline: Pipeline, state: StateReader, open_engine: OpenLate
) -> Validation:
    """Have the source, or Spark, analyse what the plan reads."""
    made = _made(plan)
    if made is None:
        read = _read(plan)
        names = tuple(column.name for column in state.describe(read.connection, read.query))
        _match(plan, pipeline, names)
        return Validation(pipeline=plan.pipeline, analysed_by=read.connection, columns=names)
    try:
        found = analyse_plan(plan, pipeline, state, open_engine)
    except RunsJob as error:  # it may well be right: nobody can know without running it
        return Validation(pipeline=plan.pipeline, not_analysed=error.what)
    return Validation(pipeline=plan.pipeline, analysed_by="Spark", columns=found.columns)


def analyse_plan(
    plan: Plan, pipeline: Pipeline, state: StateReader, open_engine: OpenLate
) -> Analysis:
    """Start Spark, run no job, and learn what the plan's rows are made of."""
    made = _made(plan)
    assert made is not None
    reads = tuple(step for step in plan.rows if isinstance(step, ReadRelation | ReadQuery))
    with open_engine() as engine:
        analyst = Analyst(spark=engine.session, state=state)
        found = analyst.analyse(made, reads)
        _match(plan, pipeline, found.columns)
        if not plan.blockers:
            _judge(plan, found.frame, engine.session)
    return found


def analysed(plan: Plan, found: Analysis) -> Plan:
    """Return the plan with what the analysis told."""
    unknown = () if found.lineage else ("this engine does not tell lineage of frame code",)
    return replace(plan, analysed=True, lineage=found.lineage, remarks=(*plan.remarks, *unknown))


def _read(plan: Plan) -> ReadQuery:
    """Return the one query that a plan reads which makes nothing of its rows on Spark."""
    if isinstance(source := plan.loads[0].source, SelectInTarget):
        return source.read
    return next(step for step in plan.rows if isinstance(step, ReadQuery))


def _made(plan: Plan) -> Transform | CallFunction | None:
    return next((step for step in plan.rows if isinstance(step, Transform | CallFunction)), None)


def _judge(plan: Plan, frame: DataFrame, spark: SparkSession) -> None:
    """Build what cleans and judges the rows: a column of a wrong type is told, no job is run."""
    with translating():
        for step in plan.rows:
            if isinstance(step, Restrict | Reshape):
                frame = shaped(spark, frame, step)
        for load in plan.loads:
            rows = frame
            for shaping in load.shape:
                match shaping:
                    case Validate(contract=contract, as_json=as_json):
                        judge(rows, contract, as_json=as_json)
                    case _:
                        rows = shaped(spark, rows, shaping)


def _match(plan: Plan, pipeline: Pipeline, names: tuple[str, ...]) -> None:
    if may_reshape(pipeline):
        return
    for load, target in zip(plan.loads, pipeline.targets, strict=True):
        match_result(names, load.contract.table, load.commit.layout, pipeline, target)
