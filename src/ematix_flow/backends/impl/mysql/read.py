"""Reading MySQL: it runs the query, its rows come as they are sent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ematix_flow.backends.batch import BATCH_ROWS, batches_of
from ematix_flow.backends.database_reader import DatabaseReader
from ematix_flow.backends.impl.mysql.catalog import columns_of, find_table
from ematix_flow.backends.impl.mysql.database import Connection, opened, run
from ematix_flow.backends.impl.mysql.server import Server
from ematix_flow.backends.impl.mysql.types import ReadAs, fields_of, read_as, to_arrow
from ematix_flow.backends.purpose import DESCRIBING, LOOKING, READING
from ematix_flow.errors import FlowError, SourceError
from ematix_flow.ports import ActualColumn, ArrivingColumn, SourceFacts
from ematix_flow.spec.arrow_type import declared_type

if TYPE_CHECKING:
    from pyarrow import RecordBatch, RecordBatchReader

_BEGINS_WITH = re.compile(
    r"(?:\s|--[^\n]*\n|#[^\n]*\n|/\*.*?\*/)*with\b", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class MySQLReader(DatabaseReader):
    """A MySQL or MariaDB database as a source."""

    server: Server

    def inspect(self, relation: str | None) -> SourceFacts:
        """Look at the catalog: that the database answers, and the columns of a table in it."""
        with opened(self.server, LOOKING, SourceError) as database:
            if relation is None:
                return SourceFacts(description=f"MySQL {self.server}")
            table = find_table(database, relation, self.server)
            return SourceFacts(
                description=f"{table.name} in MySQL {self.server}",
                size_bytes=table.size_bytes,
                columns=columns_of(database, table.name),
            )

    def describe(self, query: str) -> tuple[ActualColumn, ...]:
        """Have MySQL analyse *query*; the types are those in which its values travel."""
        with opened(self.server, DESCRIBING, SourceError) as database:
            return tuple(
                ActualColumn(name=each.name, type=each.spelt, nullable=True)
                for each in _described(database, query)
            )

    def arriving(self, query: str) -> tuple[ArrivingColumn, ...]:
        """Have MySQL analyse *query*, and say as what its values travel."""
        with opened(self.server, DESCRIBING, SourceError) as database:
            return tuple(
                ArrivingColumn(name=each.name, type=declared_type(each.arrow))
                for each in _described(database, query)
            )

    @contextmanager
    def batches(self, query: str, scratch: Path) -> Iterator[RecordBatchReader]:
        """Run *query* and give its rows a batch at a time."""
        import pyarrow as pa

        del scratch
        with opened(self.server, READING, SourceError) as database:
            columns = _described(database, query)
            schema = pa.schema([(column.name, column.arrow) for column in columns])
            with self._streaming(database, _exported(query, columns)) as cursor:
                yield pa.RecordBatchReader.from_batches(schema, _fetched(cursor, columns))

    @contextmanager
    def _streaming(self, database: Connection, query: str) -> Iterator[Any]:
        """Give the rows as they are sent; where reading ends early, so does the query."""
        from pymysql.cursors import SSCursor  # type: ignore[import-untyped]
        from pymysql.err import MySQLError  # type: ignore[import-untyped]

        cursor = database.cursor(SSCursor)
        try:
            cursor.execute(query)
            yield cursor
        except BaseException:
            # The driver can only wait for the last row, so another one stops the server.
            with suppress(FlowError), opened(self.server, LOOKING, SourceError) as other:
                run(other, f"KILL QUERY {database.thread_id()}")
            with suppress(MySQLError):
                cursor.close()
            raise


def _described(database: Connection, query: str) -> tuple[ReadAs, ...]:
    """Return the columns of *query*: asked for no rows, the server analyses it and stops."""
    # On the same line, so that the line of an error is a line of the user's text; the end on a
    # line of its own, because the text may end in a comment. MariaDB takes no WITH in brackets.
    if _BEGINS_WITH.match(query):
        none = f"WITH _flow_query AS ({query}\n) SELECT * FROM _flow_query LIMIT 0"  # noqa: S608
    else:
        none = f"({query}\n) LIMIT 0"
    with database.cursor() as cursor:
        cursor.execute(none)
        return tuple(read_as(field) for field in fields_of(cursor))


def _exported(query: str, columns: Sequence[ReadAs]) -> str:
    """Return *query*, or one around it where the server would round what it sends."""
    if not any(column.exact for column in columns):
        return query
    inner = [f"c{number}" for number in range(len(columns))]
    given = ", ".join(
        (column.exact or "{}").format(name) for name, column in zip(inner, columns, strict=True)
    )
    listed = ", ".join(inner)
    return f"WITH _flow_query ({listed}) AS ({query}\n) SELECT {given} FROM _flow_query"  # noqa: S608


def _fetched(cursor: Any, columns: Sequence[ReadAs]) -> Iterator[RecordBatch]:
    while rows := cursor.fetchmany(BATCH_ROWS):
        yield from batches_of(to_arrow(rows, columns), [column.name for column in columns])
