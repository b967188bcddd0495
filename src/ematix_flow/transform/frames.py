"""What a user's function returns, as a Spark frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ematix_flow.errors import DeclarationError
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.transform.query import run_query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def as_frame(
    spark: SparkSession, returned: Any, relations: Mapping[str, DataFrame], pipeline: Pipeline
) -> DataFrame:
    """Return the rows: of a Spark, pandas, polars or pyarrow frame, or of SQL over *relations*."""
    if isinstance(returned, str):
        return run_query(spark, returned, relations)
    module = type(returned).__module__.partition(".")[0]
    if module == "pyspark" and hasattr(returned, "schema"):
        frame: DataFrame = returned
        return frame
    if module == "polars":
        lazy = hasattr(returned, "collect")
        return spark.createDataFrame((returned.collect() if lazy else returned).to_arrow())
    if module in ("pandas", "pyarrow"):
        return spark.createDataFrame(_whole(returned))
    raise DeclarationError(
        f"pipeline {pipeline.name!r} returned {type(returned).__name__}; a function that works "
        "on frames returns a Spark, pandas, polars or pyarrow frame, or SQL over its parameters",
        where=pipeline.location,
    )


def _whole(returned: Any) -> Any:
    """Return one pyarrow table of batches and readers, which Spark does not take."""
    import pyarrow as pa

    if isinstance(returned, pa.RecordBatch):
        return pa.Table.from_batches([returned])
    if isinstance(returned, pa.RecordBatchReader):
        return returned.read_all()
    return returned
