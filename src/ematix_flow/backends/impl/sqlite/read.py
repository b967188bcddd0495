"""Reading SQLite: the query runs in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ematix_flow.backends.batch import BATCH_ROWS, batches_of
from ematix_flow.backends.database_reader import DatabaseReader
from ematix_flow.backends.impl.sqlite.catalog import columns_of, find_table
from ematix_flow.backends.impl.sqlite.database import opened
from ematix_flow.backends.impl.sqlite.types import ReadAs, read_as, to_arrow
from ematix_flow.backends.in_memory import is_in_memory
from ematix_flow.backends.purpose import DESCRIBING, LOOKING, READING
from ematix_flow.errors import SourceError
from ematix_flow.ports import ActualColumn, ArrivingColumn, SourceFacts
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.sqlite_types import meaning_in_sqlite, told_by_text

if TYPE_CHECKING:
    from pyarrow import RecordBatch, RecordBatchReader


@dataclass(frozen=True, slots=True)
class SqliteReader(DatabaseReader):
    """A SQLite database as a source."""

    path: Path

    def inspect(self, relation: str | None) -> SourceFacts:
        """Look at the file, and at the columns of a table or view in it."""
        columns = None
        with opened(self.path, LOOKING, SourceError) as database:
            # The first page tells whether it is a database at all.
            database.execute("PRAGMA schema_version")
            if relation is not None:
                columns = columns_of(database, find_table(database, relation, self.path).name)
        size = None if is_in_memory(self.path) else self.path.stat().st_size
        shown = "in memory" if size is None else f"{size:,} bytes"
        return SourceFacts(
            description=f"{self.path.name}, {shown}", size_bytes=size, columns=columns
        )

    def describe(self, query: str) -> tuple[ActualColumn, ...]:
        """Have SQLite analyse *query*. An expression has no type: SQLite gives it by value."""
        with opened(self.path, DESCRIBING, SourceError) as database:
            return tuple(
                ActualColumn(name=name, type=declared, nullable=True)
                for _, name, declared, *_ in _described(database, query)
            )

    def arriving(self, query: str) -> tuple[ArrivingColumn, ...]:
        """Have SQLite analyse *query*; of most expressions, only the values tell a type."""
        with opened(self.path, DESCRIBING, SourceError) as database:
            return tuple(
                ArrivingColumn(name=name, type=meaning_in_sqlite(told) if _tells(told) else None)
                for name, told in _told(database, query)
            )

    @contextmanager
    def batches(self, query: str, scratch: Path) -> Iterator[RecordBatchReader]:
        """Run *query* and give its rows a batch at a time."""
        import pyarrow as pa

        del scratch
        with opened(self.path, READING, SourceError) as database:
            # One snapshot for the types and the rows: a writer in between changes neither.
            database.execute("BEGIN")
            names, kinds = _columns(database, query)
            schema = pa.schema(
                [(name, kind.arrow) for name, kind in zip(names, kinds, strict=True)]
            )
            rows = _fetched(database.execute(query), names, kinds)
            yield pa.RecordBatchReader.from_batches(schema, rows)


def _fetched(
    cursor: sqlite3.Cursor, names: Sequence[str], kinds: Sequence[ReadAs]
) -> Iterator[RecordBatch]:
    while rows := cursor.fetchmany(BATCH_ROWS):
        yield from batches_of(to_arrow(rows, names, kinds), names)


def _columns(database: sqlite3.Connection, query: str) -> tuple[list[str], list[ReadAs]]:
    """Return names and types. Where no type is told, the values are looked at."""
    told = _told(database, query)
    untyped = [name for name, kind in told if not _tells(kind)]
    storage: dict[str, set[str]] = {name: set() for name, _ in told}
    if untyped:
        typeof = ", ".join(f"typeof({quoted(name, 'sqlite')})" for name in untyped)
        for found in database.execute(f"SELECT DISTINCT {typeof} FROM _flow_query"):  # noqa: S608  # quoted names
            for name, kind in zip(untyped, found, strict=True):
                storage[name].add(kind)
    kinds = [read_as(kind if _tells(kind) else "", storage[name]) for name, kind in told]
    return [name for name, _ in told], kinds


def _tells(declared: str) -> bool:
    # NUM is what SQLite says of an expression that it takes for a number.
    return bool(declared) and declared != "NUM"


def _told(database: sqlite3.Connection, query: str) -> list[tuple[str, str]]:
    """Return each column and its declared type, which a CAST in the query tells as well."""
    described = _described(database, query)
    if all(_tells(declared) for _, _, declared, *_ in described):
        return [(name, declared) for _, name, declared, *_ in described]
    texts = told_by_text(query)
    return [
        (name, declared if _tells(declared) else texts.get(name, ""))
        for _, name, declared, *_ in described
    ]


def _described(database: sqlite3.Connection, query: str) -> list[tuple[Any, ...]]:
    """Return number, name and declared type of each column, as `PRAGMA table_info` does."""
    database.execute(f"CREATE TEMP VIEW _flow_query AS {query}")
    return database.execute("PRAGMA temp.table_info(_flow_query)").fetchall()
