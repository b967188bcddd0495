"""Reading DuckDB: it runs the query and exports the result to Parquet for Spark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.files import FoundFiles
from ematix_flow.backends.impl.duckdb.database import opened
from ematix_flow.backends.impl.duckdb.types import export_query, lost_value
from ematix_flow.errors import NotSupported, SourceError, TargetBusy
from ematix_flow.ports import SourceFacts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class DuckdbReader:
    """A DuckDB database as a source."""

    path: Path

    def inspect(self, relation: str | None) -> SourceFacts:
        """Look at the file."""
        del relation
        try:
            with opened(self.path, read_only=True, failure=SourceError, patience=0):
                pass
        except TargetBusy:
            # Whoever holds it found a database there; the run will wait for them.
            pass
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
        with opened(self.path, read_only=True, failure=SourceError) as database:
            _export(database, query, spool)
        return spark.read.parquet(*FoundFiles(path=spool, files=(spool,)).paths(spark))


def _export(database: DuckDBPyConnection, query: str, spool: Path) -> None:
    import duckdb

    described = database.sql(query)
    exact = export_query(query, described.columns, described.types)
    try:
        database.sql(exact).write_parquet(str(spool), compression="zstd")
    except duckdb.InvalidInputException as error:
        if (lost := lost_value(str(error))) is None:
            raise
        raise lost from error
