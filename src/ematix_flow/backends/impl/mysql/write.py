"""Committing to MySQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import assert_never

from ematix_flow.backends.impl.mysql.catalog import children_of, columns_of, require_transactions
from ematix_flow.backends.impl.mysql.database import (
    Connection,
    dialect_at,
    dialect_of,
    fetch,
    opened,
    run,
)
from ematix_flow.backends.impl.mysql.server import Server
from ematix_flow.backends.impl.mysql.staging import load
from ematix_flow.backends.impl.mysql.staging_table import MySQLStagingTable, show, sweep
from ematix_flow.backends.purpose import LOOKING, WRITING
from ematix_flow.backends.staged import staged_batches
from ematix_flow.errors import DatabaseBusy, TargetError
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
from ematix_flow.sqltext.ddl import staging_index, staging_table
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.program.work import carried_name

# The server's own. A division by zero is NULL to who reads, and would be an error to who writes.
_READING_MODE = (
    "SET SESSION sql_mode = CONCAT_WS(',', 'STRICT_ALL_TABLES', "
    "REPLACE(@@GLOBAL.sql_mode, 'ERROR_FOR_DIVISION_BY_ZERO', ''))"
)
# What another run of the same pipeline may need to end by itself.
_PATIENCE_SECONDS = 10
_KIND = """
SELECT TABLE_TYPE FROM information_schema.TABLES
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?
"""


@dataclass(frozen=True, slots=True)
class MySQLSession:
    """An open database."""

    database: Connection
    _shown: list[str] = field(default_factory=list)

    def columns(self, table: TableName) -> tuple[ActualColumn, ...] | None:
        """Return the table's columns, or None where it does not exist.

        One without transactions is refused: who asks for the columns of a target will load it.
        """
        found = columns_of(self.database, table)
        if found is not None:
            require_transactions(self.database, table)
        return found

    def children(self, table: TableName) -> tuple[Child, ...]:
        """Return the other tables that lose something when rows of *table* are deleted."""
        return children_of(self.database, table)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run one statement and return how many rows it changed."""
        return run(self.database, sql, parameters)

    def fetch(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """Run one query and return its rows."""
        return fetch(self.database, sql, parameters)

    def show_staging(self, staged: StagedRows, table: Table, relation: str) -> None:
        """Show what tasks sent, or load the rows: the long part, before any lock.

        Rows that lie here already are selected now.
        """
        self.remove(relation)
        self._shown.append(relation)
        match staged:
            case StagedTable():
                show(self.database, staged, table, relation)
            case StagedQuery():
                self._create(table, relation)
                self._select(staged, table, relation)
                self._index(table, relation)
            case StagedFiles() | StagedBatches():
                self._create(table, relation)
                load(self.database, staged_batches(staged, table.column_names), table, relation)
                # What is read once, from end to end, needs no index.
                if isinstance(staged, StagedFiles):
                    self._index(table, relation)
            case _:
                assert_never(staged)

    def remove(self, relation: str) -> None:
        """Remove what an earlier session has left under this name."""
        self._take(relation)
        for left in (relation, carried_name(relation)):
            if left not in self._shown:
                self._drop(left)

    def _create(self, table: Table, relation: str) -> None:
        self.execute(staging_table(table, relation, dialect_of(self.database)))

    def _index(self, table: Table, relation: str) -> None:
        dialect = dialect_of(self.database)
        if (index := staging_index(table, relation, dialect)) is not None:
            self.execute(index)
        # Without knowing how many rows there are, a join may compare each with each.
        self.execute(f"ANALYZE TABLE {quoted(relation, 'mysql')}")

    def close(self) -> None:
        """Remove what was shown."""
        for relation in self._shown:
            self._drop(relation)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end of the block; roll back when it raises."""
        import pymysql  # type: ignore[import-untyped]

        # READ COMMITTED: who waited for another's lock must see what that one committed.
        self.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        self.execute("START TRANSACTION")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            # What failed matters, not whether undoing it does: closing undoes it in any case.
            with suppress(pymysql.Error):
                self.execute("ROLLBACK")
            raise

    def _select(self, query: StagedQuery, table: Table, relation: str) -> None:
        """Put the rows of the user's query into *relation*.

        It is read as it would be by a session that only reads, not in the modes of our own
        statements; but that what does not fit is an error, also where nothing else told of it.
        """
        [(mode, collation)] = self.fetch("SELECT @@SESSION.sql_mode, @@collation_connection")
        self.execute(_READING_MODE)
        self.execute("SET NAMES utf8mb4")
        names = ", ".join(quoted(each.name, "mysql") for each in table.columns)
        self.execute(f"INSERT INTO {quoted(relation, 'mysql')} ({names}) {query.sql}")
        self.execute("SET SESSION sql_mode = ?", (mode,))
        self.execute(f"SET NAMES utf8mb4 COLLATE {collation}")

    def _drop(self, relation: str) -> None:
        # Each statement is for its own kind, and refuses the other.
        for (kind,) in self.fetch(_KIND, (relation,)):
            what = "VIEW" if kind == "VIEW" else "TABLE"
            self.execute(f"DROP {what} IF EXISTS {quoted(relation, 'mysql')}")

    def _take(self, relation: str) -> None:
        """Make *relation* this session's own until it ends.

        Its name is the pipeline's, and a run that was taken over may still be at it: it must
        neither add its rows to ours nor take ours away. So its connection is ended.
        """
        if self._acquired_lock(relation):
            return
        import pymysql

        [(holder,)] = self.fetch("SELECT IS_USED_LOCK(?)", (self._lock(relation),))
        if holder is not None:
            with suppress(pymysql.Error):  # gone meanwhile, or not ours to end
                self.execute(f"KILL {int(str(holder))}")
        if not self._acquired_lock(relation):
            raise DatabaseBusy(
                f"another run is loading into {relation}",
                hint=f"wait for it, or end its connection: KILL {holder}",
            )

    def _acquired_lock(self, relation: str) -> bool:
        """Wait for the lock on *relation*, and tell whether it is ours now."""
        asked = (self._lock(relation), _PATIENCE_SECONDS)
        return self.fetch("SELECT GET_LOCK(?, ?)", asked) == [(1,)]

    def _lock(self, relation: str) -> str:
        # Locks are the server's, not a database's, and their names are short.
        [(database,)] = self.fetch("SELECT DATABASE()")
        return "flow:" + sha256(f"{database}.{relation}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class MySQLTarget:
    """A MySQL or MariaDB database as a target."""

    server: Server

    @property
    def dialect(self) -> str:
        """The SQL it speaks: `mariadb` or `mysql`, as the server says."""
        return dialect_at(self.server)

    def exists(self) -> bool:
        """Say yes: we create no databases, so one that is not there is an error at opening."""
        return True

    @contextmanager
    def open(self) -> Iterator[MySQLSession]:
        """Open it for writing."""
        import pymysql

        with opened(self.server, WRITING, TargetError) as database:
            session = MySQLSession(database)
            try:
                yield session
            finally:
                # A server that went away has told so already; the next run sweeps.
                with suppress(pymysql.Error):
                    session.close()

    @contextmanager
    def open_read_only(self) -> Iterator[MySQLSession]:
        """Open it for looking only."""
        with opened(self.server, LOOKING, TargetError) as database:
            yield MySQLSession(database)

    def staging_table(self, name: str, rows: Table) -> MySQLStagingTable:
        """Return the table *name* for staged *rows*; nothing is created yet."""
        return MySQLStagingTable(server=self.server, name=name, rows=rows)

    def sweep_staging(self, leftovers: Sequence[str], relation: str) -> None:
        """Drop what shows *relation*, and tables whose names begin with one of *leftovers*."""
        with self.open() as session:
            session.remove(relation)
            sweep(session.database, leftovers)
