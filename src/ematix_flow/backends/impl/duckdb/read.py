"""Reading DuckDB: it runs the query and exports the result to Parquet for Spark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.impl.duckdb.database import check_file, opened
from ematix_flow.errors import NotSupported
from ematix_flow.ports import SourceFacts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class DuckdbReader:
    """A DuckDB database as a source."""

    path: Path

    def inspect(self, relation: str | None) -> SourceFacts:
        """Look at the file."""
        del relation
        check_file(self.path)
        size = self.path.stat().st_size
        return SourceFacts(description=f"{self.path.name}, {size:,} bytes", size_bytes=size)

    def read_relation(self, spark: SparkSession, relation: str) -> DataFrame:
        """Refuse: a database runs the whole query itself."""
        del spark, relation
        raise NotSupported("duckdb runs the whole query itself")

    def read_query(self, spark: SparkSession, query: str, scratch: Path) -> DataFrame:
        """Run *query*, export its result, and let the database go before Spark works."""
        spool = scratch / "source.parquet"
        spool.parent.mkdir(parents=True, exist_ok=True)
        with opened(self.path, read_only=True) as database:
            database.sql(query).write_parquet(str(spool), compression="zstd")
        return spark.read.parquet(str(spool))
