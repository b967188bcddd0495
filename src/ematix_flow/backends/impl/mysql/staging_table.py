"""Staging in a table of MySQL, filled by LOAD DATA from the engine's tasks.

Its columns are those of the target, and `_flow_task` says who sent a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ematix_flow._base.redact import register_secret
from ematix_flow.backends.impl.mysql.database import (
    Connection,
    dialect_of,
    fetch,
    opened,
    run,
    set_up,
)
from ematix_flow.backends.impl.mysql.failures import LOCKED, number_of
from ematix_flow.backends.impl.mysql.server import Server
from ematix_flow.backends.impl.mysql.staging import load
from ematix_flow.backends.purpose import SWEEPING, WRITING
from ematix_flow.backends.staged_table import of_winners, require_all
from ematix_flow.errors import TargetError
from ematix_flow.ports import StagedTable
from ematix_flow.spec.layout import TASK
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import String
from ematix_flow.sqltext.ddl import staging_index, staging_table
from ematix_flow.sqltext.identifiers import quoted

if TYPE_CHECKING:
    import pyarrow as pa

_TASK = Column(name=TASK, type=String(64), nullable=True)
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

    def create(self) -> None:
        """Create it, empty."""
        with opened(self.server, WRITING, TargetError) as database:
            run(database, staging_table(_marked(self.rows), self.name, dialect_of(database)))

    def loader(self) -> MySQLLoader:
        """Return what tasks call."""
        return MySQLLoader(server=self.server, name=self.name, rows=self.rows)

    def drop(self) -> None:
        """Remove it, if it is there."""
        with opened(self.server, WRITING, TargetError) as database:
            run(database, f"DROP TABLE IF EXISTS {quoted(self.name, 'mysql')}")


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
            run(database, "START TRANSACTION")
            load(database, self._sent(batches, task), _marked(self.rows), self.name)
            run(database, "COMMIT")

    def _sent(self, batches: Iterator[pa.RecordBatch], task: str) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        names = list(self.rows.column_names)
        for batch in batches:
            tasks = pa.repeat(pa.scalar(task), batch.num_rows)
            columns = [*batch.select(names).columns, tasks]
            yield pa.record_batch(columns, names=[*names, TASK])


def show(database: Connection, staged: StagedTable, table: Table, relation: str) -> None:
    """Make the rows of the attempts that won visible as *relation*, and nothing else."""
    name, view = quoted(staged.name, "mysql"), quoted(relation, "mysql")
    won = of_winners(staged, "mysql")
    [(found,)] = fetch(database, f"SELECT COUNT(*) FROM {name} WHERE {won}")  # noqa: S608  # quoted
    require_all(staged, found)
    if (index := staging_index(table, staged.name, dialect_of(database))) is not None:
        run(database, index)
    # Without knowing how many rows there are, a join may compare each with each.
    run(database, f"ANALYZE TABLE {name}")
    columns = ", ".join(quoted(each, "mysql") for each in table.column_names)
    query = f"SELECT {columns} FROM {name} WHERE {won}"  # noqa: S608  # quoted
    run(database, f"CREATE VIEW {view} AS {query}")


def _marked(rows: Table) -> Table:
    return replace(rows, columns=(*rows.columns, _TASK))


def sweep(database: Connection, leftovers: Sequence[str]) -> None:
    """Drop tables whose names begin with one of *leftovers*, unless somebody uses them."""
    set_up(database, SWEEPING)
    for each in leftovers:
        _drop_left(database, each)


def _drop_left(database: Connection, leftovers: str) -> None:
    for (name,) in fetch(database, _LEFT, (leftovers, leftovers)):
        _drop_unless_used(database, name)


def _drop_unless_used(database: Connection, name: str) -> None:
    from pymysql.err import MySQLError  # type: ignore[import-untyped]

    try:
        run(database, f"DROP TABLE IF EXISTS {quoted(name, 'mysql')}")
    except MySQLError as error:
        if number_of(error) != LOCKED:
            raise
