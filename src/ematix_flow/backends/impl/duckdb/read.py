"""Reading DuckDB: it runs the query and exports the result to Parquet.

So it is let go before the rows are used: whoever writes to a database has it alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.database_reader import DatabaseReader, spool_file
from ematix_flow.backends.impl.duckdb.catalog import columns_meant
from ematix_flow.backends.impl.duckdb.database import nowhere, opened, size_of
from ematix_flow.backends.impl.duckdb.types import export_query, lost_value
from ematix_flow.backends.purpose import DESCRIBING, LOOKING, READING
from ematix_flow.errors import DatabaseBusy, SourceError
from ematix_flow.ports import ActualColumn, ArrivingColumn, SourceFacts
from ematix_flow.sqltext.type_texts import read_type

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from duckdb.sqltypes import DuckDBPyType
    from pyarrow import RecordBatchReader


@dataclass(frozen=True, slots=True)
class DuckdbReader(DatabaseReader):
    """A DuckDB database as a source."""

    path: Path

    def inspect(self, relation: str | None) -> SourceFacts:
        """Look at the file, and at the columns of a table or view in it."""
        columns = None
        try:
            with opened(self.path, LOOKING, SourceError, patience=0) as database:
                if relation is not None:
                    columns = columns_meant(database, relation, self.path)
        except DatabaseBusy:
            # Whoever holds it found a database there; the run will wait for them.
            pass
        size = size_of(self.path, SourceError)
        shown = "in memory" if size is None else f"{size:,} bytes"
        return SourceFacts(
            description=f"{self.path.name}, {shown}", size_bytes=size, columns=columns
        )

    def describe(self, query: str) -> tuple[ActualColumn, ...]:
        """Have DuckDB analyse *query*."""
        with opened(self.path, DESCRIBING, SourceError) as database:
            return _described(database, query)

    def describe_alone(self, query: str) -> tuple[ActualColumn, ...]:
        """Have DuckDB analyse a query that names no table: the file need not be there."""
        with nowhere() as database:
            return _described(database, query)

    def arriving(self, query: str) -> tuple[ArrivingColumn, ...]:
        """Have DuckDB analyse *query*, and say as what its values travel."""
        with opened(self.path, DESCRIBING, SourceError) as database:
            given = database.sql(query)
            exact = database.sql(export_query(query, given.columns, given.types))
            return tuple(
                ArrivingColumn(name=name, type=read_type(_travels_as(own, exported), "duckdb"))
                for name, own, exported in zip(given.columns, given.types, exact.types, strict=True)
            )

    @contextmanager
    def batches(self, query: str, scratch: Path) -> Iterator[RecordBatchReader]:
        """Run *query* and give its rows a batch at a time."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.spool(query, scratch)) as file:
            yield pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())

    def spool(self, query: str, scratch: Path) -> Path:
        """Run *query* and return its rows as a Parquet file."""
        spool = spool_file(scratch)
        with opened(self.path, READING, SourceError) as database:
            _export(database, query, spool)
        return spool


def _described(database: DuckDBPyConnection, query: str) -> tuple[ActualColumn, ...]:
    described = database.sql(query)
    return tuple(
        ActualColumn(name=name, type=str(kind), nullable=True)
        for name, kind in zip(described.columns, described.types, strict=True)
    )


def _travels_as(own: DuckDBPyType, exported: DuckDBPyType) -> str:
    # A UUID travels as text that is one.
    return "UUID" if own.id == "uuid" else str(exported)


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
