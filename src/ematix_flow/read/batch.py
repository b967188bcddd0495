"""Reading one source of a batch run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.plan.steps import ReadQuery, ReadRelation
from ematix_flow.ports import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read(
    step: ReadRelation | ReadQuery, reader: Reader, spark: SparkSession, scratch: Path
) -> DataFrame:
    """Return the rows that *step* asks for. Lazy, but for what a database must spool."""
    match step:
        case ReadRelation(relation=relation):
            return reader.read_relation(spark, relation)
        case ReadQuery(query=query):
            return reader.read_query(spark, query, scratch)
