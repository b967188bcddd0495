"""The part of ADBC's DBAPI that we use, without pandas and polars, which that imports.

Every start of `flow`, and every task of the engine, would wait for them.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from ematix_flow.backends.impl.postgres.parameters import bound

if TYPE_CHECKING:
    import pyarrow as pa
    from adbc_driver_manager import AdbcStatement

_T = TypeVar("_T")


class _Database:
    """The driver's view of a database: the types that it had when this was made.

    To learn them, the driver connects and reads the catalog, which takes longer than all else.
    """

    def __init__(self, uri: str) -> None:
        import adbc_driver_postgresql  # type: ignore[import-untyped]  # no stubs

        self.handle = adbc_driver_postgresql.connect(uri)

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.handle.close()


class _Views(threading.local):
    """The views that connections of one thread share; the driver counts without a lock."""

    def __init__(self) -> None:
        self._of: dict[str, _Database] = {}

    def of(self, uri: str, *, afresh: bool) -> _Database:
        """Return the view of a database, a new one if asked."""
        found = None if afresh else self._of.get(uri)
        # The latest is the last. A thread that lives long meets many addresses: passwords change.
        self._of.pop(uri, None)
        self._of[uri] = found or _Database(uri)
        while len(self._of) > _KEPT:
            del self._of[next(iter(self._of))]
        return self._of[uri]


_KEPT = 4
_VIEWS = _Views()


class Connection:
    """An open connection; every statement is its own transaction until a `BEGIN`.

    :param built_in: Whether its results have columns of built-in types alone, which every
        database has, and which never change.
    """

    def __init__(self, uri: str, *, built_in: bool) -> None:
        import adbc_driver_manager

        self._cursors: set[Cursor] = set()
        self._database = _VIEWS.of(uri, afresh=not built_in)
        self._connection = adbc_driver_manager.AdbcConnection(self._database.handle)

    def cursor(self) -> Cursor:
        """Return what runs one statement."""
        import adbc_driver_manager

        cursor = Cursor(adbc_driver_manager.AdbcStatement(self._connection), self._cursors.discard)
        self._cursors.add(cursor)
        return cursor

    def cancel(self) -> None:
        """End the statement that another thread waits for."""
        self._connection.cancel()

    def close(self) -> None:
        """End it, and what of it is still open: a generator may not have come to its end."""
        for cursor in tuple(self._cursors):
            cursor.close()
        self._connection.close()


class Cursor:
    """One statement and its result.

    :ivar rowcount: How many rows it changed; -1 where that is not known.
    """

    def __init__(self, statement: AdbcStatement, forget: Callable[[Cursor], None]) -> None:
        self.adbc_statement = statement
        self.rowcount = -1
        self._forget = forget
        self._is_open = True
        self._interrupted = False
        self._reader: pa.RecordBatchReader | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free what the statement holds."""
        if not self._is_open:
            return
        self._is_open = False
        self._end_result()
        self.adbc_statement.close()
        self._forget(self)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> None:
        """Run one statement, with *parameters* for its `$1`, `$2` ..."""
        # Knows the whole error that comes with the rows; to plain Arrow it is but a text.
        from adbc_driver_manager._reader import AdbcRecordBatchReader

        self._end_result()
        self.adbc_statement.set_sql_query(sql)
        if parameters:
            self.adbc_statement.prepare()
            self.adbc_statement.bind(bound(parameters))
        stream, self.rowcount = self._awaiting(self.adbc_statement.execute_query)
        self._reader = AdbcRecordBatchReader._import_from_c(stream.address)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return the rows."""
        return [
            row
            for batch in self._batches()
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        ]

    def fetch_record_batch(self) -> pa.RecordBatchReader:
        """Return the rows as a stream."""
        import pyarrow as pa

        assert self._reader is not None
        return pa.RecordBatchReader.from_batches(self._reader.schema, self._batches())

    def adbc_ingest(
        self,
        table: str,
        rows: pa.RecordBatchReader,
        mode: Literal["append", "create"],
        *,
        temporary: bool = False,
    ) -> None:
        """COPY *rows* into a table."""
        from adbc_driver_manager import StatementOptions

        self.adbc_statement.set_options(
            **{
                StatementOptions.INGEST_TARGET_TABLE.value: table,
                StatementOptions.INGEST_MODE.value: f"adbc.ingest.mode.{mode}",
                StatementOptions.INGEST_TEMPORARY.value: "true" if temporary else "false",
            }
        )
        self.adbc_statement.bind_stream(self._heeding(rows))
        self._awaiting(self.adbc_statement.execute_update)

    def adbc_execute_schema(self, sql: str) -> pa.Schema:
        """Return the columns that a query would give; it is not run."""
        import pyarrow as pa

        self.adbc_statement.set_sql_query(sql)
        return pa.schema(self._awaiting(self.adbc_statement.execute_schema))

    def _heeding(self, rows: pa.RecordBatchReader) -> pa.RecordBatchReader:
        """Give *rows* until there is an interrupt: the driver would first take all of them."""
        import pyarrow as pa

        def given() -> Iterator[pa.RecordBatch]:
            for batch in rows:
                if self._interrupted:
                    raise KeyboardInterrupt
                yield batch

        return pa.RecordBatchReader.from_batches(rows.schema, given())

    def _end_result(self) -> None:
        """Let go of what the statement before has given: the connection cannot do two."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _batches(self) -> Iterator[pa.RecordBatch]:
        assert self._reader is not None
        while True:
            try:
                yield self._awaiting(self._reader.read_next_batch)
            except StopIteration:
                return

    def _awaiting(self, call: Callable[[], _T]) -> _T:
        """Call what waits for the server; an interrupt ends the statement there, too.

        While it waits, Python cannot act upon signals. The driver can, but what it then raises is
        the server's word that the statement was cancelled, and not what was asked for.
        """
        from adbc_driver_manager._lib import _blocking_call

        self._interrupted = False

        def cancel() -> None:
            self._interrupted = True
            self.adbc_statement.cancel()

        try:
            return _blocking_call(call, (), {}, cancel)
        finally:
            if self._interrupted:
                signal.raise_signal(signal.SIGINT)
