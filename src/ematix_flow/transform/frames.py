"""What a user's function returns, as a Spark frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ematix_flow.errors import DeclarationError
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.transform.query import run_query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


# Not a column, an array or a series: they have no names to match with the target's.
_FRAMES = {
    "pyspark": ("DataFrame",),
    "pandas": ("DataFrame",),
    "polars": ("DataFrame", "LazyFrame"),
    "pyarrow": ("Table", "RecordBatch", "RecordBatchReader"),
}


def as_frame(
    spark: SparkSession, returned: Any, relations: Mapping[str, DataFrame], pipeline: Pipeline
) -> DataFrame:
    """Return the rows: of a Spark, pandas, polars or pyarrow frame, or of SQL over *relations*."""
    if isinstance(returned, str):
        return run_query(spark, returned, relations)
    module, kind = type(returned).__module__.partition(".")[0], type(returned).__name__
    if kind not in _FRAMES.get(module, ()):
        raise _no_frame(returned, pipeline)
    if module == "pyspark":
        frame: DataFrame = returned
        return frame
    whole = _whole(returned)
    if not len(whole.columns):
        raise DeclarationError(
            f"pipeline {pipeline.name!r} returned a {module} {kind} without columns",
            where=pipeline.location,
            hint="name the columns even if there are no rows",
        )
    return spark.createDataFrame(whole)


def _no_frame(returned: object, pipeline: Pipeline) -> DeclarationError:
    return DeclarationError(
        f"pipeline {pipeline.name!r} returned {type(returned).__name__}; a function that works "
        "on frames returns a Spark, pandas, polars or pyarrow frame, or SQL over its parameters",
        where=pipeline.location,
    )


def _whole(returned: Any) -> Any:
    """Return a table that Spark takes: not of polars, not pyarrow's batches, not an empty one."""
    if type(returned).__module__.startswith("polars"):
        return (returned.collect() if hasattr(returned, "collect") else returned).to_arrow()
    import pyarrow as pa

    if type(returned).__module__.startswith("pandas") and returned.empty:
        # Of no rows, Spark asks the values for their types; Arrow asks the columns.
        return pa.Table.from_pandas(returned, preserve_index=False)
    if isinstance(returned, pa.RecordBatch):
        return pa.Table.from_batches([returned])
    if isinstance(returned, pa.RecordBatchReader):
        return returned.read_all()
    return returned
