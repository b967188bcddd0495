"""Reading PostgreSQL: it runs the query, Spark gets the result.

Tasks read a large table in parts (see `ranges`); the result of any other query is spooled to
Parquet by the driver, which holds one batch at a time.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.files import FoundFiles
from ematix_flow.backends.impl.postgres.catalog import columns_of, find_table
from ematix_flow.backends.impl.postgres.database import LOOKING, READING, opened
from ematix_flow.backends.impl.postgres.export import exported
from ematix_flow.backends.impl.postgres.failures import translating
from ematix_flow.backends.impl.postgres.range_task import HOLDING, RangeTask, take_snapshot
from ematix_flow.backends.impl.postgres.ranges import ranged
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.backends.impl.postgres.types import carried_schema, spelt
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
        with opened(self.server, READING, read_only=True, failure=SourceError) as database:
            described = self._described(database, query)
            return self._spooled(spark, database, query, described, scratch)

    def spool(self, query: str, scratch: Path) -> Path:
        """Run *query* and return its rows as a Parquet file in *scratch*."""
        spool = scratch / "source.parquet"
        spool.parent.mkdir(parents=True, exist_ok=True)
        with opened(self.server, READING, read_only=True, failure=SourceError) as database:
            _spool(database, query, self._described(database, query), spool)
        return spool

    def _spooled(
        self,
        spark: SparkSession,
        database: Connection,
        query: str,
        described: pa.Schema,
        scratch: Path,
    ) -> DataFrame:
        spool = scratch / "source.parquet"
        spool.parent.mkdir(parents=True, exist_ok=True)
        _spool(database, query, described, spool)
        return spark.read.parquet(*FoundFiles(path=spool, files=(spool,)).paths(spark))

    def read_in_tasks(
        self, spark: SparkSession, query: str, scratch: Path, held: ExitStack
    ) -> DataFrame:
        """Let tasks read a large table in parts, all at one snapshot; spool any other query."""
        with ExitStack() as opening:
            database = opening.enter_context(
                opened(self.server, HOLDING, read_only=True, failure=SourceError)
            )
            described = self._described(database, query)
            parts = None if _repeats(described) else ranged(database, query, _divisor(spark))
            snapshot = take_snapshot(database, parts.table) if parts else None
            if parts is None or snapshot is None:
                return self._spooled(spark, database, query, described, scratch)
            held.push(opening.pop_all())
        task = RangeTask(server=self.server, query=parts, snapshot=snapshot, described=described)
        return _in_tasks(spark, task)

    def _described(self, database: Connection, query: str) -> pa.Schema:
        # Prepared as it stands, so that the place of an error is a place in the user's text.
        with translating(self.server, SourceError, query), database.cursor() as cursor:
            return cursor.adbc_execute_schema(query)


def _spool(database: Connection, query: str, described: pa.Schema, spool: Path) -> None:
    import pyarrow.parquet as pq

    # Read once and thrown away: what would make the file smaller costs more than it saves.
    options = {"compression": "lz4", "use_dictionary": False, "write_statistics": False}
    with pq.ParquetWriter(spool, carried_schema(described), **options) as writer:
        for batch in exported(database, query, described):
            writer.write_batch(batch)


def _in_tasks(spark: SparkSession, task: RangeTask) -> DataFrame:
    from pyspark.sql.pandas.types import from_arrow_schema

    # A function of its own: Spark shows its name, and nothing that it holds.
    def read_range(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        return task(iter(batches))

    schema = from_arrow_schema(carried_schema(task.described), prefer_timestamp_ntz=True)
    count = len(task.query.ranges)
    return spark.range(0, count, 1, count).mapInArrow(read_range, schema)


def _divisor(spark: SparkSession) -> int:
    """Return into how many parts this engine would divide a lot of data."""
    return int(spark.conf.get("spark.sql.shuffle.partitions") or 1)


def _repeats(described: pa.Schema) -> bool:
    return len({name.casefold() for name in described.names}) < len(described.names)
