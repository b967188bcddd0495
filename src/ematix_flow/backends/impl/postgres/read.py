"""Reading PostgreSQL: it runs the query, its result is spooled to Parquet for Spark.

The rows come as a binary COPY, exact and without a JVM's calendar in between. The driver
holds one batch at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.files import FoundFiles
from ematix_flow.backends.impl.postgres.catalog import columns_of, find_table
from ematix_flow.backends.impl.postgres.database import LOOKING, READING, opened
from ematix_flow.backends.impl.postgres.failures import translating
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.backends.impl.postgres.types import (
    carried,
    carried_schema,
    export_query,
    lost_value,
    spelt,
)
from ematix_flow.errors import NotSupported, SourceError
from ematix_flow.ports import ActualColumn, SourceFacts

if TYPE_CHECKING:
    import pyarrow as pa
    from adbc_driver_manager.dbapi import Connection
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class PostgresReader:
    """A PostgreSQL database as a source."""

    server: Server

    def inspect(self, relation: str | None) -> SourceFacts:
        """Look at the catalog: that the database answers, and the columns of a table in it."""
        with opened(self.server, LOOKING, read_only=True, failure=SourceError) as database:
            if relation is None:
                return SourceFacts(description=f"PostgreSQL {self.server}")
            table = find_table(database, relation, self.server)
            return SourceFacts(
                description=f"{table.name} in PostgreSQL {self.server}",
                size_bytes=table.size_bytes,
                columns=columns_of(database, table.name),
            )

    def describe(self, query: str) -> tuple[ActualColumn, ...]:
        """Have PostgreSQL analyse *query*."""
        with opened(self.server, LOOKING, read_only=True, failure=SourceError) as database:
            return tuple(
                ActualColumn(name=field.name, type=spelt(field), nullable=True)
                for field in self._described(database, query)
            )

    def read_relation(self, spark: SparkSession, relation: str) -> DataFrame:
        """Refuse: a database runs the whole query itself."""
        del spark, relation
        raise NotSupported("postgres runs the whole query itself")

    def read_query(self, spark: SparkSession, query: str, scratch: Path) -> DataFrame:
        """Run *query* and spool its result, so that the driver holds one batch at a time."""
        spool = scratch / "source.parquet"
        spool.parent.mkdir(parents=True, exist_ok=True)
        with opened(self.server, READING, read_only=True, failure=SourceError) as database:
            _spool(database, query, self._described(database, query), spool)
        return spark.read.parquet(*FoundFiles(path=spool, files=(spool,)).paths(spark))

    def _described(self, database: Connection, query: str) -> pa.Schema:
        # Prepared as it stands, so that the place of an error is a place in the user's text.
        with translating(self.server, SourceError, query), database.cursor() as cursor:
            return cursor.adbc_execute_schema(query)


def _spool(database: Connection, query: str, described: pa.Schema, spool: Path) -> None:
    import adbc_driver_manager
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = carried_schema(described)
    try:
        with database.cursor() as cursor:
            cursor.execute(export_query(query, described))
            with pq.ParquetWriter(spool, schema, compression="zstd") as writer:
                for batch in cursor.fetch_record_batch():
                    writer.write_batch(carried(batch, schema))
    except (OSError, pa.ArrowException, adbc_driver_manager.Error) as error:
        if (lost := lost_value(str(error))) is None:
            raise
        raise lost from error
