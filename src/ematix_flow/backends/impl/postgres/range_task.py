"""What a task of the engine does to read its part of a query, by binary COPY.

All parts see the snapshot that the driver took and holds, so together they are the answer of one
query, whenever they run and however often they are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ematix_flow._base.redact import register_secrets_in
from ematix_flow.backends.impl.postgres.database import fetch, opened, run
from ematix_flow.backends.impl.postgres.export import exported
from ematix_flow.backends.impl.postgres.failures import NOT_ALLOWED, diagnosis
from ematix_flow.backends.impl.postgres.ranges import RangedQuery
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.backends.purpose import READING
from ematix_flow.errors import SourceError
from ematix_flow.spec.task_failure import told_to_the_driver

if TYPE_CHECKING:
    import pyarrow as pa

    from ematix_flow.backends.impl.postgres.adbc import Connection

# What is exported is of built-in types, whatever the columns are.
_PART = replace(READING, any_type=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeTask:
    """The work of every task; it travels to them pickled.

    :param described: The columns of the query, as PostgreSQL describes them.
    """

    server: Server
    query: RangedQuery
    snapshot: str
    described: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the ranges whose numbers are given."""
        with told_to_the_driver():
            # This process is not the one that read the configuration.
            register_secrets_in(self.server.dsn)
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield from self._read(number)

    def _read(self, number: int) -> Iterator[pa.RecordBatch]:
        query = self.query.within(self.query.ranges[number])
        with opened(self.server, _PART, SourceError) as database:
            run(database, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            run(database, f"SET TRANSACTION SNAPSHOT '{self.snapshot}'")
            yield from exported(database, query, self.described)


def take_snapshot(database: Connection, table: str) -> str | None:
    """Keep *table* as it is now, for others to see, until *database* is closed.

    The lock comes first. It keeps the table from being rewritten: that would move rows between
    pages, and TRUNCATE would even take them from our sight. It lets everybody else read and write.

    :return: None where the user may read columns of the table only: those may not lock it.
    """
    import adbc_driver_manager

    run(database, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    try:
        run(database, f"LOCK TABLE {table} IN ACCESS SHARE MODE")
    except adbc_driver_manager.Error as error:
        if diagnosis(error).get("SQLSTATE") != NOT_ALLOWED:
            raise
        run(database, "ROLLBACK")
        return None
    [(snapshot,)] = fetch(database, "SELECT pg_export_snapshot()")
    # We only wait from here on; a server that ends idle transactions must not end this one.
    run(database, "SET LOCAL idle_in_transaction_session_timeout = 0")
    return str(snapshot)
