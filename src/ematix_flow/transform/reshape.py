"""Steps of the user's between a pipeline's query and its target: frame to frame."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from ematix_flow.errors import UnknownName
from ematix_flow.plan.steps import Reshape
from ematix_flow.resolve.call import call_user
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.transform import (
    DeduplicateBy,
    FilterWhere,
    FunctionStep,
    Limit,
    SamplePct,
    SqlStep,
)
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.over_rows import over_rows
from ematix_flow.transform.frames import as_frame
from ematix_flow.transform.udf import register_udfs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NUMBER = "_flow_number"
# Of a million parts, as many are kept as the percentage says.
_PARTS = 1_000_000
# Values of these types have no order, so they cannot decide between equal rows.
_UNORDERED = ("map", "variant", "interval")
_views = count(1)


def reshape(spark: SparkSession, frame: DataFrame, step: Reshape) -> DataFrame:
    """Return the rows after one of the pipeline's transforms_pre."""
    match step.change:
        case DeduplicateBy():
            return _deduplicated(frame, step.change, step.pipeline)
        case FilterWhere(condition=condition):
            return frame.where(condition)
        case Limit(rows=rows):
            return frame.limit(rows)
        case SamplePct():
            return _sampled(frame, step.change)
        case SqlStep(sql=sql):
            register_udfs(spark, step.udfs)
            return _queried(spark, frame, sql, step.pipeline)
        case FunctionStep(function=function):
            returned = call_user(function, step.pipeline, frame)
            if isinstance(returned, str):
                return _queried(spark, frame, returned, step.pipeline)
            return as_frame(spark, returned, {}, step.pipeline)


def _queried(spark: SparkSession, frame: DataFrame, sql: str, pipeline: Pipeline) -> DataFrame:
    # A name of its own each time: on Spark Connect a view that is replaced changes the frames
    # that were made from it.
    view = f"_flow_rows_{next(_views)}"
    frame.createOrReplaceTempView(view)
    return spark.sql(over_rows(sql, view, pipeline.location))


def _deduplicated(frame: DataFrame, change: DeduplicateBy, pipeline: Pipeline) -> DataFrame:
    names = {name.casefold(): name for name in frame.columns}
    for key in change.keys:
        if key.casefold() not in names:
            raise UnknownName.among(
                "column in deduplicate_by:",
                key,
                frame.columns,
                where=pipeline.location,
                hint="name a column that the query returns",
            )
    keys = ", ".join(quoted(names[key.casefold()], "spark") for key in change.keys)
    # Rows that are equal in order differ in another column, or not at all.
    others = [
        quoted(field.name, "spark")
        for field in frame.schema.fields
        if not field.dataType.simpleString().startswith(_UNORDERED)
    ]
    order = ", ".join((change.order_by, *others))
    numbered = frame.selectExpr(
        "*", f"row_number() OVER (PARTITION BY {keys} ORDER BY {order}) AS {_NUMBER}"
    )
    return numbered.where(f"{_NUMBER} = 1").drop(_NUMBER)


def _sampled(frame: DataFrame, change: SamplePct) -> DataFrame:
    """Choose by the rows' values, so that another partitioning chooses the same ones."""
    from pyspark.sql import functions

    columns = (functions.col(quoted(name, "spark")).cast("string") for name in frame.columns)
    number = functions.xxhash64(functions.lit(change.seed), *columns)
    parts = functions.pmod(number, functions.lit(_PARTS))
    return frame.where(parts < round(change.percent / 100 * _PARTS))
