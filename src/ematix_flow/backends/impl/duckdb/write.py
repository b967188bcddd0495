"""Committing to DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from sqlglot import exp

from ematix_flow.backends.impl.duckdb.catalog import Collations, collations_in, columns_of
from ematix_flow.backends.impl.duckdb.database import is_there, opened
from ematix_flow.backends.purpose import LOOKING, WRITING
from ematix_flow.backends.staged import streamed
from ematix_flow.errors import NotSupported, TargetError
from ematix_flow.ports import (
    ActualColumn,
    StagedBatches,
    StagedFiles,
    StagedQuery,
    StagedRows,
    StagedTable,
)
from ematix_flow.spec.table import Table, TableName
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.type_names import held_columns

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyarrow import RecordBatchReader


@dataclass(frozen=True)
class DuckdbSession:
    """An open database."""

    database: DuckDBPyConnection

    def columns(self, table: TableName) -> tuple[ActualColumn, ...] | None:
        """Return the table's columns, or None where it does not exist."""
        return columns_of(self.database, table, self._collations)

    @cached_property
    def _collations(self) -> Collations:
        # DuckDB looks through all tables for them, so it is asked once.
        return collations_in(self.database)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run one statement and return how many rows it changed."""
        result = self.database.execute(sql, tuple(parameters)).fetchone()
        return int(result[0]) if result and isinstance(result[0], int) else 0

    def fetch(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """Run one query and return its rows."""
        return self.database.execute(sql, tuple(parameters)).fetchall()

    def show_staging(self, staged: StagedRows, table: Table, relation: str) -> None:
        """Make the staged files a view: DuckDB reads Parquet where it lies.

        Rows that arrive are taken, and those that lie here already are selected now.
        """
        # DuckDB looks for a name among temporary ones first, so none of the user's is meant.
        name = quoted(relation, "duckdb")
        match staged:
            case StagedFiles():
                self.database.execute(f"CREATE TEMP VIEW {name} AS {_rows_in(staged.files)}")
            case StagedBatches():
                self._take(staged.batches, table, relation)
            case StagedQuery():
                self.database.execute(f"CREATE TEMP TABLE {name} AS {staged.sql}")
            case StagedTable():
                raise NotSupported("DuckDB has one writer, so tasks cannot fill a table of it")
            case _:
                assert_never(staged)

    def _take(self, batches: RecordBatchReader, table: Table, relation: str) -> None:
        arriving = f"{relation}_arriving"
        columns = ", ".join(
            f"CAST({name} AS {held.type_name}) AS {name}"
            for name, held in zip(
                (quoted(each, "duckdb") for each in table.column_names),
                held_columns(table, "duckdb"),
                strict=True,
            )
        )
        with streamed(iter(batches), batches.schema) as rows:
            self.database.register(arriving, rows)
            query = f"SELECT {columns} FROM {quoted(arriving, 'duckdb')}"  # noqa: S608  # quoted
            self.database.execute(f"CREATE TEMP TABLE {quoted(relation, 'duckdb')} AS {query}")
        self.database.unregister(arriving)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end of the block; roll back when it raises."""
        import duckdb

        self.database.execute("BEGIN")
        try:
            yield
            self.database.execute("COMMIT")
        except BaseException:
            # What failed matters, not whether undoing it does: closing undoes it in any case.
            with suppress(duckdb.Error):
                self.database.execute("ROLLBACK")
            raise


@dataclass(frozen=True, slots=True)
class DuckdbTarget:
    """A DuckDB database as a target."""

    path: Path

    @property
    def dialect(self) -> str:
        """The SQL it speaks."""
        return "duckdb"

    def exists(self) -> bool:
        """Tell whether the database is there, without creating it."""
        return is_there(self.path, TargetError)

    @contextmanager
    def open(self) -> Iterator[DuckdbSession]:
        """Open it for writing."""
        with opened(self.path, WRITING, TargetError) as database:
            yield DuckdbSession(database)

    @contextmanager
    def open_read_only(self) -> Iterator[DuckdbSession]:
        """Open it for looking only."""
        with opened(self.path, LOOKING, TargetError) as database:
            yield DuckdbSession(database)


def _rows_in(files: Sequence[Path]) -> str:
    # No path is a pattern, and no folder named `id=5` is a column.
    listed = ", ".join(
        exp.Literal.string(escape(str(file))).sql(dialect="duckdb") for file in files
    )
    return f"SELECT * FROM read_parquet([{listed}], hive_partitioning = false)"  # noqa: S608
