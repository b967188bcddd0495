"""Reading PostgreSQL: it runs the query.

For Spark, tasks read a large table in parts (see `ranges`); the result of any other query is
spooled by the driver, which holds one batch at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.database_reader import DatabaseReader, frame_of, spooled
from ematix_flow.backends.impl.postgres.catalog import columns_of, find_table
from ematix_flow.backends.impl.postgres.database import opened
from ematix_flow.backends.impl.postgres.export import exported_ahead
from ematix_flow.backends.impl.postgres.failures import translating
from ematix_flow.backends.impl.postgres.range_task import RangeTask, take_snapshot
from ematix_flow.backends.impl.postgres.ranges import ranged
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.backends.impl.postgres.types import (
    carried_schema,
    passed_query,
    spelt,
    travels_as,
)
from ematix_flow.backends.purpose import DESCRIBING, LOOKING, READING
from ematix_flow.errors import SourceError
from ematix_flow.ports import ActualColumn, ArrivingColumn, SourceFacts
from ematix_flow.spec.altered import require_unaltered
from ematix_flow.spec.table import Table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from ematix_flow.backends.impl.postgres.adbc import Connection


@dataclass(frozen=True, slots=True)
class PostgresReader(DatabaseReader):
    """A PostgreSQL database as a source."""

    server: Server

    def inspect(self, relation: str | None) -> SourceFacts:
        """Look at the catalog: that the database answers, and the columns of a table in it."""
        with opened(self.server, LOOKING, SourceError) as database:
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
        with opened(self.server, DESCRIBING, SourceError) as database:
            return tuple(
                ActualColumn(name=field.name, type=spelt(field), nullable=True)
                for field in self._described(database, query)
            )

    def arriving(self, query: str) -> tuple[ArrivingColumn, ...]:
        """Have PostgreSQL analyse *query*, and say as what its values travel."""
        with opened(self.server, DESCRIBING, SourceError) as database:
            return tuple(
                ArrivingColumn(name=field.name, type=travels_as(field))
                for field in self._described(database, query)
            )

    @contextmanager
    def batches(self, query: str, scratch: Path) -> Iterator[pa.RecordBatchReader]:
        """Run *query* and give its rows a batch at a time."""
        del scratch
        with opened(self.server, READING, SourceError) as database:
            described = self._described(database, query)
            with exported_ahead(database, query, described) as rows:
                yield rows

    def read_in_tasks(
        self, spark: SparkSession, query: str, scratch: Path, held: ExitStack
    ) -> DataFrame:
        """Let tasks read a large table in parts, all at one snapshot; spool any other query."""
        with ExitStack() as opening:
            database = opening.enter_context(opened(self.server, READING, SourceError))
            described = self._described(database, query)
            parts = None if _repeats(described) else ranged(database, query, _divisor(spark))
            snapshot = take_snapshot(database, parts.table) if parts else None
            if parts is None or snapshot is None:
                with exported_ahead(database, query, described) as rows:
                    return frame_of(spark, spooled(rows, scratch))
            held.push(opening.pop_all())
        task = RangeTask(server=self.server, query=parts, snapshot=snapshot, described=described)
        return _in_tasks(spark, task)

    def passing(self, query: str, table: Table) -> str:
        """Return the query that gives the columns of *table* in the types of its staging."""
        with opened(self.server, DESCRIBING, SourceError) as database:
            described = self._described(database, query)
        require_unaltered([(field.name, travels_as(field)) for field in described], table)
        return passed_query(query, described)

    def _described(self, database: Connection, query: str) -> pa.Schema:
        # Prepared as it stands, so that the place of an error is a place in the user's text.
        with translating(self.server, SourceError, query), database.cursor() as cursor:
            return cursor.adbc_execute_schema(query)


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
