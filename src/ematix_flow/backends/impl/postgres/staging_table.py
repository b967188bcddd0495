"""Staging in a table of PostgreSQL, filled by COPY from the engine's tasks.

The table is unlogged: it is quicker, and what a crash of the server empties is noticed by its
count. Its columns have the types that COPY sends (see `staging`), and `_flow_task` says who sent a
row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ematix_flow._base.redact import register_secrets_in
from ematix_flow.backends.impl.postgres.database import fetch, opened, run
from ematix_flow.backends.impl.postgres.failures import diagnosis
from ematix_flow.backends.impl.postgres.passing import Passing, can_pass
from ematix_flow.backends.impl.postgres.read import PostgresReader
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.backends.impl.postgres.staging import (
    as_sent,
    copying,
    definitions,
    row_of_batches,
    sent_schema,
    shown_as,
)
from ematix_flow.backends.purpose import LOOKING, SWEEPING, WRITING
from ematix_flow.backends.staged_table import of_winners, require_all
from ematix_flow.errors import TargetError
from ematix_flow.ports import Reader, StagedTable
from ematix_flow.spec.layout import TASK
from ematix_flow.spec.table import Table
from ematix_flow.spec.types import Array
from ematix_flow.sqltext.identifiers import quoted

if TYPE_CHECKING:
    import pyarrow as pa

    from ematix_flow.backends.impl.postgres.adbc import Connection

_IN_USE = "55P03"

_LEFT = """
SELECT c.relname FROM pg_catalog.pg_class c
WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r'
  AND starts_with(CAST(c.relname AS text), ?) AND pg_has_role(c.relowner, 'USAGE')
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresStagingTable:
    """One run's table, in the schema where new tables go."""

    server: Server
    name: str
    rows: Table

    def create(self) -> None:
        """Create it, empty."""
        columns = definitions(self.rows)
        with opened(self.server, WRITING, TargetError) as database:
            run(database, f"CREATE UNLOGGED TABLE {self._quoted} ({columns}, {TASK} text)")

    def loader(self) -> PostgresLoader:
        """Return what tasks call."""
        with opened(self.server, LOOKING, TargetError) as database:
            [(encoding,)] = fetch(database, "SELECT current_setting('server_encoding')")
        # In UTF-8 there is a place for every character; elsewhere one may have none.
        keys = self.rows.key_columns if encoding != "UTF8" else ()
        return PostgresLoader(
            server=self.server, name=self.name, schema=sent_schema(self.rows), keys=keys
        )

    def passes_from(self, reader: Reader) -> bool:
        """Tell whether another PostgreSQL can fill it."""
        # The bytes of an array name the type of its elements, which is not always ours.
        plain = not any(isinstance(column.type, Array) for column in self.rows.columns)
        return plain and isinstance(reader, PostgresReader) and can_pass(reader.server, self.server)

    def pass_rows(self, reader: Reader, query: str, tell: Callable[[int], None]) -> StagedTable:
        """Run *query* in another PostgreSQL and fill the table with its rows."""
        assert isinstance(reader, PostgresReader)
        rows = Passing(
            source=reader.server,
            target=self.server,
            query=reader.passing(query, self.rows),
            table=self.name,
            columns=self.rows.column_names,
            tell=tell,
        ).carry_out()
        return StagedTable(name=self.name, tasks=None, rows=rows)

    def drop(self) -> None:
        """Remove it, if it is there."""
        with opened(self.server, WRITING, TargetError) as database:
            run(database, f"DROP TABLE IF EXISTS {self._quoted}")

    @property
    def _quoted(self) -> str:
        return quoted(self.name, "postgres")


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresLoader:
    """Sends the rows of a task in one COPY: all of them arrive, or none.

    :param keys: The columns to remember, so that a row which the database refuses can be named.
    """

    server: Server
    name: str
    schema: pa.Schema
    keys: tuple[str, ...] = ()

    def __call__(self, batches: Iterator[pa.RecordBatch], task: str) -> None:
        """Put the rows into staging, each with *task* in the column `_flow_task`."""
        import pyarrow as pa

        # This process is not the one that read the configuration.
        register_secrets_in(self.server.dsn)
        schema = self.schema
        marked = schema.append(pa.field(TASK, pa.string()))
        remembered: list[pa.RecordBatch] = []

        def sent() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                plain = as_sent(batch.select(schema.names), schema)
                if self.keys:
                    # A copy: a part of a batch would keep the whole of it in memory.
                    every = pa.array(range(plain.num_rows))
                    remembered.append(plain.select(list(self.keys)).take(every))
                tasks = pa.repeat(pa.scalar(task), plain.num_rows)
                yield pa.record_batch([*plain.columns, tasks], schema=marked)

        stream = pa.RecordBatchReader.from_batches(marked, sent())
        with (
            opened(self.server, WRITING, TargetError) as database,
            copying(partial(row_of_batches, remembered)),
            database.cursor() as cursor,
        ):
            cursor.adbc_ingest(self.name, stream, mode="append")


def show(database: Connection, staged: StagedTable, table: Table, relation: str) -> None:
    """Make the rows of the attempts that won visible as *relation*, and nothing else."""
    name, view = quoted(staged.name, "postgres"), quoted(relation, "postgres")
    won = of_winners(staged, "postgres")
    [(found,)] = fetch(database, f"SELECT count(*) FROM {name} WHERE {won}")  # noqa: S608  # quoted
    require_all(staged, found)
    # The program joins it with the target: without statistics the plan would be a guess.
    run(database, f"ANALYZE {name}")
    run(database, f"CREATE TEMP VIEW {view} AS {shown_as(table, name)} WHERE {won}")


def sweep(server: Server, leftovers: Sequence[str]) -> None:
    """Drop tables whose names begin with one of *leftovers*, unless somebody uses them."""
    with opened(server, SWEEPING, TargetError) as database:
        for each in leftovers:
            _drop_left(database, each)


def _drop_left(database: Connection, leftovers: str) -> None:
    for (name,) in fetch(database, _LEFT, (leftovers,)):
        _drop_unless_used(database, name)


def _drop_unless_used(database: Connection, name: str) -> None:
    import adbc_driver_manager

    try:
        run(database, f"DROP TABLE IF EXISTS {quoted(name, 'postgres')}")
    except adbc_driver_manager.Error as error:
        if diagnosis(error).get("SQLSTATE") != _IN_USE:
            raise
