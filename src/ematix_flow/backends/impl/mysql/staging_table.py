"""Staging in a table of MySQL, filled by LOAD DATA from the engine's tasks.

Its columns are those of the target, and `_flow_task` says who sent a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ematix_flow._base.redact import register_secret
from ematix_flow.backends.impl.mysql.database import (
    WRITING,
    Connection,
    Purpose,
    dialect_of,
    fetch,
    opened,
)
from ematix_flow.backends.impl.mysql.failures import LOCKED, number_of
from ematix_flow.backends.impl.mysql.server import Server
from ematix_flow.backends.impl.mysql.staging import load
from ematix_flow.errors import StagingLost, TargetError
from ematix_flow.ports import StagedTable
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import String
from ematix_flow.sqltext.ddl import staging_index, staging_table
from ematix_flow.sqltext.identifiers import quoted

if TYPE_CHECKING:
    import pyarrow as pa

_TASK = Column(name="_flow_task", type=String(64), nullable=True)
# Whoever still fills or reads a left table keeps it; waiting for that would hold this run up.
_SWEEPING = Purpose(lock_seconds=1, writes=True)
_LEFT = """
SELECT TABLE_NAME FROM information_schema.TABLES
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'
  AND LEFT(TABLE_NAME, CHAR_LENGTH(?)) = ?
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLStagingTable:
    """One run's table, in the database of the connection."""

    server: Server
    name: str
    rows: Table

    def create(self, leftovers: str) -> None:
        """Create it, empty, after dropping tables whose names begin with *leftovers*."""
        with opened(self.server, _SWEEPING, TargetError) as database:
            for (name,) in fetch(database, _LEFT, (leftovers, leftovers)):
                _drop_unless_used(database, name)
        with opened(self.server, WRITING, TargetError) as database:
            fetch(database, staging_table(_marked(self.rows), self.name, dialect_of(database)))

    def loader(self) -> MySQLLoader:
        """Return what tasks call."""
        return MySQLLoader(server=self.server, name=self.name, rows=self.rows)

    def drop(self) -> None:
        """Remove it, if it is there."""
        with opened(self.server, WRITING, TargetError) as database:
            fetch(database, f"DROP TABLE IF EXISTS {quoted(self.name, 'mysql')}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLLoader:
    """Sends the rows of a task in one transaction: all of them arrive, or none."""

    server: Server
    name: str
    rows: Table

    def __call__(self, batches: Iterator[pa.RecordBatch], task: str) -> None:
        """Put the rows into staging, each with *task* in the column `_flow_task`."""
        # This process is not the one that read the configuration.
        if self.server.password:
            register_secret(self.server.password)
        with opened(self.server, WRITING, TargetError) as database:
            fetch(database, "START TRANSACTION")
            load(database, self._sent(batches, task), _marked(self.rows), self.name)
            fetch(database, "COMMIT")

    def _sent(self, batches: Iterator[pa.RecordBatch], task: str) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        names = list(self.rows.column_names)
        for batch in batches:
            tasks = pa.repeat(pa.scalar(task), batch.num_rows)
            columns = [*batch.select(names).columns, tasks]
            yield pa.record_batch(columns, names=[*names, _TASK.name])


def show(database: Connection, staged: StagedTable, rows: int, table: Table, relation: str) -> None:
    """Make the rows of the attempts that won visible as *relation*, and nothing else.

    An attempt that was repeated has left rows that do not count; what the tasks said they sent
    must be there.
    """
    name = quoted(staged.name, "mysql")
    tasks = ", ".join(exp.Literal.string(task).sql(dialect="mysql") for task in staged.tasks or ())
    won = f"{_TASK.name} IN ({tasks})" if tasks else "FALSE"
    [(found,)] = fetch(database, f"SELECT COUNT(*) FROM {name} WHERE {won}")  # noqa: S608  # quoted
    if found != rows:
        raise StagingLost(
            f"staging holds {found:,} rows, but {rows:,} were sent to it; nothing was written",
            hint="run again; did somebody empty the table?",
        )
    if (index := staging_index(table, staged.name, dialect_of(database))) is not None:
        fetch(database, index)
    # Without knowing how many rows there are, a join may compare each with each.
    fetch(database, f"ANALYZE TABLE {name}")
    columns = ", ".join(quoted(each, "mysql") for each in table.column_names)
    query = f"SELECT {columns} FROM {name} WHERE {won}"  # noqa: S608  # quoted
    fetch(database, f"CREATE VIEW {quoted(relation, 'mysql')} AS {query}")


def _marked(rows: Table) -> Table:
    return replace(rows, columns=(*rows.columns, _TASK))


def _drop_unless_used(database: Connection, name: str) -> None:
    from pymysql.err import MySQLError  # type: ignore[import-untyped]

    try:
        fetch(database, f"DROP TABLE IF EXISTS {quoted(name, 'mysql')}")
    except MySQLError as error:
        if number_of(error) != LOCKED:
            raise
