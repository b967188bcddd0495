"""Reading one source of a batch run."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.plan.steps import ReadQuery, ReadRelation
from ematix_flow.ports import Reader, ReadsInTasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read(
    step: ReadRelation | ReadQuery,
    reader: Reader,
    spark: SparkSession,
    scratch: Path,
    held: ExitStack,
) -> DataFrame:
    """Return the rows that *step* asks for. Lazy, but for what a database must spool.

    :param held: Closed when the rows are no longer needed.
    """
    match step:
        case ReadRelation(relation=relation):
            return reader.read_relation(spark, relation)
        case ReadQuery(query=query):
            return rows_of_query(reader, spark, query, scratch, held)


def rows_of_query(
    reader: Reader, spark: SparkSession, query: str, scratch: Path, held: ExitStack
) -> DataFrame:
    """Run *query* in the source: by the engine's tasks where they can fetch rows themselves."""
    if isinstance(reader, ReadsInTasks):
        return reader.read_in_tasks(spark, query, scratch, held)
    return reader.read_query(spark, query, scratch)
