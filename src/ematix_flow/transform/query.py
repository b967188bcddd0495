"""The pipeline's SQL, on Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ematix_flow.sqltext.identifiers import view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def run_query(spark: SparkSession, query: str, relations: Mapping[str, DataFrame]) -> DataFrame:
    """Return the rows of *query* over *relations*.

    The session belongs to this run alone, so the views can have the names the user wrote.
    """
    for name, frame in relations.items():
        frame.createOrReplaceTempView(view(name))
    return spark.sql(query)
