"""Committing to DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.impl.duckdb.database import opened
from ematix_flow.ports import ActualColumn, StagedRows
from ematix_flow.spec.table import Table, TableName

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class DuckdbSession:
    """An open database."""

    database: DuckDBPyConnection

    def columns(self, table: TableName) -> tuple[ActualColumn, ...] | None:
        """Return the table's columns, or None where it does not exist."""
        rows = self.database.execute(
            "SELECT column_name, data_type, is_nullable FROM duckdb_columns() "
            "WHERE database_name = current_database() AND schema_name = ? AND table_name = ? "
            "ORDER BY column_index",
            (table.schema or "main", table.name),
        ).fetchall()
        found = tuple(
            ActualColumn(name=name, type=kind, nullable=nullable) for name, kind, nullable in rows
        )
        return found or None

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run one statement and return how many rows it changed."""
        result = self.database.execute(sql, tuple(parameters)).fetchone()
        return int(result[0]) if result and isinstance(result[0], int) else 0

    def fetch(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """Run one query and return its rows."""
        return self.database.execute(sql, tuple(parameters)).fetchall()

    def show_staging(self, staged: StagedRows, table: Table, relation: str) -> None:
        """Make the staged files a view: DuckDB reads Parquet where it lies."""
        del table
        files = [str(file) for file in staged.files]
        self.database.read_parquet(files).create_view(relation, replace=True)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end of the block; roll back when it raises."""
        self.database.execute("BEGIN")
        try:
            yield
        except BaseException:
            self.database.execute("ROLLBACK")
            raise
        self.database.execute("COMMIT")


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
        return self.path.exists()

    @contextmanager
    def open(self) -> Iterator[DuckdbSession]:
        """Open it for writing."""
        with opened(self.path, read_only=False) as database:
            yield DuckdbSession(database)

    @contextmanager
    def open_read_only(self) -> Iterator[DuckdbSession]:
        """Open it for looking only."""
        with opened(self.path, read_only=True) as database:
            yield DuckdbSession(database)
