"""The steps that give rows another shape, and need nothing but the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ematix_flow.plan.steps import Arrange, Normalize, Reshape, Restrict
from ematix_flow.transform.arrange import arrange
from ematix_flow.transform.normalize import normalize
from ematix_flow.transform.reshape import reshape
from ematix_flow.transform.window import restrict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ShapeStep = Restrict | Reshape | Arrange | Normalize


def shaped(spark: SparkSession, rows: DataFrame, step: ShapeStep) -> DataFrame:
    """Return the rows as *step* leaves them."""
    match step:
        case Restrict(window=window, location=location):
            return restrict(rows, window, location)
        case Reshape():
            return reshape(spark, rows, step)
        case Arrange():
            return arrange(rows, step)
        case Normalize(table=table):
            return normalize(rows, table)
        case _:
            assert_never(step)
