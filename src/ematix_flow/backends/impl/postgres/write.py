"""Committing to PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, assert_never

import sqlglot
from sqlglot import exp

from ematix_flow.backends.impl.postgres.catalog import children_of, columns_of, has_schema
from ematix_flow.backends.impl.postgres.database import fetch, opened, run
from ematix_flow.backends.impl.postgres.failures import NOT_ALLOWED, diagnosis
from ematix_flow.backends.impl.postgres.parameters import counting
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.backends.impl.postgres.staging import (
    copying,
    definitions,
    row_of_staged,
    sent,
    shown_as,
)
from ematix_flow.backends.impl.postgres.staging_table import PostgresStagingTable, show, sweep
from ematix_flow.backends.purpose import LOOKING, WRITING
from ematix_flow.errors import TargetError
from ematix_flow.ports import (
    ActualColumn,
    Child,
    StagedBatches,
    StagedFiles,
    StagedQuery,
    StagedRows,
    StagedTable,
)
from ematix_flow.spec.table import Table, TableName
from ematix_flow.sqltext.identifiers import quoted

if TYPE_CHECKING:
    from ematix_flow.backends.impl.postgres.adbc import Connection

# Two runs that create one thing at the same moment: one of them meets the other's catalog row.
_CREATED_MEANWHILE = ("42P06", "42P07", "42710")
_UNIQUE = "23505"


@dataclass(frozen=True, slots=True)
class PostgresSession:
    """An open database."""

    database: Connection

    def columns(self, table: TableName) -> tuple[ActualColumn, ...] | None:
        """Return the table's columns, or None where it does not exist."""
        return columns_of(self.database, table)

    def children(self, table: TableName) -> tuple[Child, ...]:
        """Return the other tables that lose something when rows of *table* are deleted."""
        return children_of(self.database, table)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run one statement and return how many rows it changed."""
        import adbc_driver_manager

        if parameters:
            [(count,)] = fetch(self.database, counting(sql), parameters)
            return int(count)
        try:
            return run(self.database, sql)
        except adbc_driver_manager.Error as error:
            if not self._is_there_anyway(sql, error):
                raise
            return 0

    def fetch(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """Run one query and return its rows."""
        return fetch(self.database, sql, parameters)

    def show_staging(self, staged: StagedRows, table: Table, relation: str) -> None:
        """Show what tasks sent, or load the staged files: the long part, before any lock.

        Rows that lie here already are selected now.
        """
        match staged:
            case StagedTable():
                show(self.database, staged, table, relation)
            case StagedQuery():
                self._select(staged, quoted(relation, "postgres"))
            case StagedFiles() | StagedBatches():
                self._load(staged, table, relation)
            case _:
                assert_never(staged)

    def _load(self, staged: StagedFiles | StagedBatches, table: Table, relation: str) -> None:
        name = f"{relation}_rows"
        run(self.database, f"CREATE TEMP TABLE {quoted(name, 'postgres')} ({definitions(table)})")
        named = partial(row_of_staged, staged, table)
        with (
            copying(named),
            sent(staged, table) as stream,
            self.database.cursor() as cursor,
        ):
            cursor.adbc_ingest(name, stream, mode="append", temporary=True)
        # PostgreSQL looks for a name among temporary tables first, so none of the user's is meant.
        rows = f"pg_temp.{quoted(name, 'postgres')}"
        # The program joins it with the target: without statistics the plan would be a guess.
        run(self.database, f"ANALYZE {rows}")
        query = shown_as(table, rows)
        run(self.database, f"CREATE TEMP VIEW {quoted(relation, 'postgres')} AS {query}")

    def _select(self, query: StagedQuery, relation: str) -> None:
        if query.is_settled:
            run(self.database, f"CREATE TEMP VIEW {relation} AS {query.sql}")
            return
        run(self.database, f"CREATE TEMP TABLE {relation} AS {query.sql}")
        run(self.database, f"ANALYZE {relation}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end of the block; roll back when it raises."""
        import adbc_driver_manager

        # READ COMMITTED: who waited for another's lock must see what that one committed.
        run(self.database, "BEGIN ISOLATION LEVEL READ COMMITTED")
        try:
            yield
            run(self.database, "COMMIT")
        except BaseException:
            # What failed matters, not whether undoing it does: closing undoes it in any case.
            with suppress(adbc_driver_manager.Error):
                run(self.database, "ROLLBACK")
            raise

    def _is_there_anyway(self, sql: str, error: Exception) -> bool:
        """Tell whether what IF NOT EXISTS could not create is there.

        PostgreSQL asks for the right to create before it looks, and two that create at once
        both find nothing.
        """
        told = diagnosis(error)
        code = told.get("SQLSTATE")
        meanwhile = code in _CREATED_MEANWHILE or (
            code == _UNIQUE and told.get("SCHEMA_NAME") == "pg_catalog"
        )
        if not meanwhile and code != NOT_ALLOWED:
            return False
        match sqlglot.parse_one(sql, dialect="postgres"):
            case exp.Create(args={"kind": kind, "exists": True}) as create:
                return self._has(kind, create.find(exp.Table))
            case _:
                return False

    def _has(self, kind: str, created: exp.Table | None) -> bool:
        match kind, created:
            case "SCHEMA", exp.Table(db=schema):
                return has_schema(self.database, schema)
            case "TABLE", exp.Table(name=name, db=schema):
                return self.columns(TableName(name=name, schema=schema or None)) is not None
            case _:
                return False


@dataclass(frozen=True, slots=True)
class PostgresTarget:
    """A PostgreSQL database as a target."""

    server: Server

    @property
    def dialect(self) -> str:
        """The SQL it speaks."""
        return "postgres"

    def exists(self) -> bool:
        """Say yes: we create no databases, so one that is not there is an error at opening."""
        return True

    @contextmanager
    def open(self) -> Iterator[PostgresSession]:
        """Open it for writing."""
        with opened(self.server, WRITING, TargetError) as database:
            yield PostgresSession(database)

    @contextmanager
    def open_read_only(self) -> Iterator[PostgresSession]:
        """Open it for looking only."""
        with opened(self.server, LOOKING, TargetError) as database:
            yield PostgresSession(database)

    def staging_table(self, name: str, rows: Table) -> PostgresStagingTable:
        """Return the table *name* for staged *rows*; nothing is created yet."""
        return PostgresStagingTable(server=self.server, name=name, rows=rows)

    def sweep_staging(self, leftovers: Sequence[str], relation: str) -> None:
        """Drop tables whose names begin with one of *leftovers*, unless somebody uses them."""
        del relation  # it went with its session
        sweep(self.server, leftovers)
