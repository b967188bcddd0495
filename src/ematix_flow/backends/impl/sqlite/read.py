"""Reading SQLite: the query runs in it, its result is spooled to Parquet for Spark."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ematix_flow.backends.files import FoundFiles
from ematix_flow.backends.impl.sqlite.database import read_only
from ematix_flow.backends.impl.sqlite.types import ReadAs, read_as, to_arrow
from ematix_flow.backends.in_memory import is_in_memory
from ematix_flow.backends.tables import missing_table
from ematix_flow.errors import NotSupported, SourceError
from ematix_flow.ports import ActualColumn, SourceFacts
from ematix_flow.sqltext.identifiers import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Enough rows to fill a Parquet row group well, few enough to keep the driver small.
_BATCH_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class SqliteReader:
    """A SQLite database as a source."""

    path: Path

    def inspect(self, relation: str | None) -> SourceFacts:
        """Look at the file, and at the columns of a table or view in it."""
        with read_only(self.path, SourceError) as database:
            # The first page tells whether it is a database at all.
            database.execute("PRAGMA schema_version")
            columns = None if relation is None else _table_columns(database, relation, self.path)
        size = None if is_in_memory(self.path) else self.path.stat().st_size
        shown = "in memory" if size is None else f"{size:,} bytes"
        return SourceFacts(
            description=f"{self.path.name}, {shown}", size_bytes=size, columns=columns
        )

    def describe(self, query: str) -> tuple[ActualColumn, ...]:
        """Have SQLite analyse *query*. An expression has no type: SQLite gives it by value."""
        with read_only(self.path, SourceError) as database:
            return tuple(
                ActualColumn(name=name, type=declared, nullable=True)
                for _, name, declared, *_ in _described(database, query)
            )

    def read_relation(self, spark: SparkSession, relation: str) -> DataFrame:
        """Refuse: a database runs the whole query itself."""
        del spark, relation
        raise NotSupported("sqlite runs the whole query itself")

    def read_query(self, spark: SparkSession, query: str, scratch: Path) -> DataFrame:
        """Run *query* and spool its result, so that the driver holds one batch at a time."""
        spool = self.spool(query, scratch)
        return spark.read.parquet(*FoundFiles(path=spool, files=(spool,)).paths(spark))

    def spool(self, query: str, scratch: Path) -> Path:
        """Run *query* and return its rows as a Parquet file."""
        spool = scratch / "source.parquet"
        with read_only(self.path, SourceError) as database:
            _spool(database, query, spool)
        return spool


def _table_columns(
    database: sqlite3.Connection, relation: str, path: Path
) -> tuple[ActualColumn, ...]:
    # The name that is quoted in a query may itself have a dot in it.
    for name in (relation, relation.removeprefix("main.")):
        rows = database.execute(
            'SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (name,)
        ).fetchall()
        if rows:
            return tuple(
                ActualColumn(
                    name=column, type=kind, nullable=not (not_null or key), primary_key=bool(key)
                )
                for column, kind, not_null, key in rows
            )
    known = database.execute(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite|_%' ESCAPE '|' ORDER BY name"
    )
    raise missing_table(relation, path.name, [name for (name,) in known])


def _spool(database: sqlite3.Connection, query: str, spool: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # One snapshot for the types and the rows: a writer in between changes neither.
    database.execute("BEGIN")
    names, kinds = _columns(database, query)
    schema = pa.schema([(name, kind.arrow) for name, kind in zip(names, kinds, strict=True)])
    cursor = database.execute(query)
    spool.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(spool, schema) as writer:
        while rows := cursor.fetchmany(_BATCH_ROWS):
            writer.write_batch(to_arrow(rows, names, kinds))


def _columns(database: sqlite3.Connection, query: str) -> tuple[list[str], list[ReadAs]]:
    """Return names and types. Expressions have no declared type: their values are looked at."""
    described = _described(database, query)
    names = [row[1] for row in described]
    untyped = [name for _, name, declared, *_ in described if not declared or declared == "NUM"]
    storage: dict[str, set[str]] = {name: set() for name in names}
    if untyped:
        typeof = ", ".join(f"typeof({quoted(name, 'sqlite')})" for name in untyped)
        for found in database.execute(f"SELECT DISTINCT {typeof} FROM _flow_query"):  # noqa: S608  # quoted names
            for name, kind in zip(untyped, found, strict=True):
                storage[name].add(kind)
    kinds = [
        read_as("" if name in untyped else declared, storage[name])
        for _, name, declared, *_ in described
    ]
    return names, kinds


def _described(database: sqlite3.Connection, query: str) -> list[tuple[Any, ...]]:
    """Return number, name and declared type of each column, as `PRAGMA table_info` does."""
    database.execute(f"CREATE TEMP VIEW _flow_query AS {query}")
    return database.execute("PRAGMA temp.table_info(_flow_query)").fetchall()
