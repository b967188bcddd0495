"""Committing to SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from ematix_flow.backends.impl.sqlite.catalog import columns_of
from ematix_flow.backends.impl.sqlite.database import is_there, opened
from ematix_flow.backends.impl.sqlite.types import to_sqlite
from ematix_flow.backends.purpose import LOOKING, WRITING
from ematix_flow.backends.staged import staged_batches
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


@dataclass(frozen=True, slots=True)
class SqliteSession:
    """An open database."""

    database: sqlite3.Connection

    def columns(self, table: TableName) -> tuple[ActualColumn, ...] | None:
        """Return the table's columns, or None where it does not exist."""
        return columns_of(self.database, table)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run one statement and return how many rows it changed."""
        return max(self.database.execute(sql, tuple(parameters)).rowcount, 0)

    def fetch(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """Run one query and return its rows."""
        return self.database.execute(sql, tuple(parameters)).fetchall()

    def show_staging(self, staged: StagedRows, table: Table, relation: str) -> None:
        """Load the rows into a temporary table: the long part, before any lock is held.

        Rows that lie here already are selected now.
        """
        names = [column.name for column in table.columns]
        listed = ", ".join(quoted(name, "sqlite") for name in names)
        # SQLite looks for a name among temporary tables first, so none of the user's is meant.
        staging = f"temp.{quoted(relation, 'sqlite')}"
        # Columns without a type: a value stays what it is.
        self.database.execute(f"CREATE TABLE {staging} ({listed})")
        match staged:
            case StagedQuery():
                self.database.execute(f"INSERT INTO {staging} {staged.sql}")
            case StagedFiles() | StagedBatches():
                marks = ", ".join("?" for _ in names)
                insert = f"INSERT INTO {staging} VALUES ({marks})"  # noqa: S608  # quoted
                with self._block("BEGIN"):
                    for batch in staged_batches(staged, names):
                        self.database.executemany(insert, to_sqlite(batch, table))
            case StagedTable():
                raise NotSupported("SQLite has one writer, so tasks cannot fill a table of it")
            case _:
                assert_never(staged)

    def transaction(self) -> AbstractContextManager[None]:
        """Commit at the end of the block; roll back when it raises."""
        # IMMEDIATE takes the write lock at once: no other writer can slip in after the fence.
        return self._block("BEGIN IMMEDIATE")

    @contextmanager
    def _block(self, begin: str) -> Iterator[None]:
        self.database.execute(begin)
        try:
            yield
            self.database.execute("COMMIT")
        except BaseException:
            # What failed matters, not whether undoing it does: closing undoes it in any case.
            with suppress(sqlite3.Error):
                if self.database.in_transaction:
                    self.database.execute("ROLLBACK")
            raise


@dataclass(frozen=True, slots=True)
class SqliteTarget:
    """A SQLite database as a target."""

    path: Path

    @property
    def dialect(self) -> str:
        """The SQL it speaks."""
        return "sqlite"

    def exists(self) -> bool:
        """Tell whether the database is there, without creating it."""
        return is_there(self.path, TargetError)

    @contextmanager
    def open(self) -> Iterator[SqliteSession]:
        """Open it for writing."""
        with opened(self.path, WRITING, TargetError) as database:
            yield SqliteSession(database)

    @contextmanager
    def open_read_only(self) -> Iterator[SqliteSession]:
        """Open it for looking only."""
        with opened(self.path, LOOKING, TargetError) as database:
            yield SqliteSession(database)
