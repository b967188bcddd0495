"""The planner's eyes: metadata of sources and targets, each looked at once per plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Self

from ematix_flow.errors import QueryError, SourceError
from ematix_flow.ports import (
    ActualColumn,
    ArrivingColumn,
    Child,
    DescribesAlone,
    KnowsChildren,
    Reader,
    ReadsWithoutSpark,
    SourceFacts,
    Target,
    TargetFacts,
)
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.bookkeeping import bookkeeping
from ematix_flow.write.landed import ledger_columns
from ematix_flow.write.ledger import last_commit


class MetadataReader:
    """Looks at connections, read-only; what it opened is closed when the planning is done."""

    def __init__(self, reader: Callable[[str], Reader], target: Callable[[str], Target]) -> None:
        self._reader = reader
        self._target = target
        self._stack = ExitStack()
        self._targets: dict[str, _OpenTarget | None] = {}
        self._sources: dict[tuple[str, str | None], SourceFacts] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def source(self, connection: str, relation: str | None) -> SourceFacts:
        """Look at a file or table, or at the whole source."""
        key = (connection, relation)
        if key not in self._sources:
            with _named(connection):
                self._sources[key] = self._reader(connection).inspect(relation)
        return self._sources[key]

    def describe(self, connection: str, query: str) -> tuple[ActualColumn, ...]:
        """Have the source analyse a query."""
        with _named(connection):
            return self._reader(connection).describe(query)

    def describe_alone(self, connection: str, query: str) -> tuple[ActualColumn, ...]:
        """Have a database, or one like it, analyse a query that names no table."""
        reader = self._reader(connection)
        if not isinstance(reader, DescribesAlone):
            return self.describe(connection, query)
        with _named(connection):
            return reader.describe_alone(query)

    def arriving(self, connection: str, query: str) -> tuple[ArrivingColumn, ...] | None:
        """Return how the columns of a query would arrive; None where only Spark can read them."""
        reader = self._reader(connection)
        if not isinstance(reader, ReadsWithoutSpark):
            return None
        with _named(connection):
            return reader.arriving(query)

    def target(self, connection: str, table: TableName, pipeline: str) -> TargetFacts:
        """Look at the target's columns and its ledger row for *pipeline*."""
        opened = self._open(connection)
        if opened is None:
            return TargetFacts(columns=None, ledger=None)
        with opened.telling_errors():
            return opened.facts(table, pipeline)

    def children(self, connection: str, table: TableName) -> tuple[Child, ...]:
        """Return the tables that lose something when rows of *table* are deleted."""
        opened = self._open(connection)
        if opened is None:
            return ()
        with opened.telling_errors():
            return opened.children(table)

    def _open(self, connection: str) -> _OpenTarget | None:
        if connection not in self._targets:
            target = self._target(connection)
            opened = _OpenTarget(target) if target.exists() else None
            if opened is not None:
                self._stack.push(opened.stack)
            self._targets[connection] = opened
        return self._targets[connection]


class _OpenTarget:
    """A target that stays open for all the pipelines that write to it."""

    def __init__(self, target: Target) -> None:
        self.stack = ExitStack()
        self._session = self.stack.enter_context(target.open_read_only())
        self._dialect = target.dialect
        self._sql = bookkeeping(self._dialect)
        with self.telling_errors():
            self._ledger = ledger_columns(self._session)

    def facts(self, table: TableName, pipeline: str) -> TargetFacts:
        """Look at one table."""
        return TargetFacts(
            columns=self._session.columns(table),
            ledger=last_commit(self._session, self._sql, pipeline, str(table), self._ledger)
            if self._ledger is not None
            else None,
            dialect=self._dialect,
        )

    def children(self, table: TableName) -> tuple[Child, ...]:
        """Return the tables that lose something when rows of one are deleted."""
        session = self._session
        return session.children(table) if isinstance(session, KnowsChildren) else ()

    @contextmanager
    def telling_errors(self) -> Iterator[None]:
        """Let the session's own context turn a driver's error into ours, as at the end of it."""
        try:
            yield
        except Exception as error:
            self.stack.__exit__(type(error), error, error.__traceback__)
            raise


@contextmanager
def _named(connection: str) -> Iterator[None]:
    """Say of an error which source it is about."""
    try:
        yield
    except SourceError as error:
        error.what = f"source {connection!r}: {error.what}"
        raise
    except QueryError as error:
        # The line that is wrong is the pipeline's, not the database's address.
        error.what, error.where = f"source {connection!r}: {error.what}", None
        raise
