"""The rows of a query, by binary COPY: exact, and without a JVM's calendar in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from ematix_flow.backends.impl.postgres.types import (
    carried,
    carried_schema,
    export_query,
    lost_value,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from ematix_flow.backends.impl.postgres.adbc import Connection


def exported(database: Connection, query: str, described: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Run *query* and give its rows a batch at a time, in the types of `carried_schema`."""
    import adbc_driver_manager
    import pyarrow as pa

    schema = carried_schema(described)
    try:
        with database.cursor() as cursor:
            cursor.execute(export_query(query, described))
            for batch in cursor.fetch_record_batch():
                yield carried(batch, schema)
    except (OSError, pa.ArrowException, adbc_driver_manager.Error) as error:
        if (lost := lost_value(str(error))) is None:
            raise
        raise lost from error


@contextmanager
def exported_ahead(
    database: Connection, query: str, described: pa.Schema
) -> Iterator[pa.RecordBatchReader]:
    """Do as `exported`, and fetch a batch while the one before it is being used."""
    import pyarrow as pa

    rows = exported(database, query, described)
    with closing(_Ahead(rows, database.cancel)) as ahead:
        yield pa.RecordBatchReader.from_batches(carried_schema(described), ahead)


class _Ahead:
    """Fetches the next batch in a thread; closed, it touches the connection no more."""

    def __init__(self, rows: Iterator[pa.RecordBatch], cancel: Callable[[], None]) -> None:
        self._rows = rows
        self._cancel = cancel
        self._fetching = ThreadPoolExecutor(max_workers=1, thread_name_prefix="flow-read")
        self._coming = self._fetching.submit(next, rows, None)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self

    def __next__(self) -> pa.RecordBatch:
        batch = self._coming.result()
        if batch is None:
            raise StopIteration
        self._coming = self._fetching.submit(next, self._rows, None)
        return batch

    def close(self) -> None:
        """Wait for nothing but the server's word that it has stopped."""
        if not self._coming.done():
            self._cancel()
        self._fetching.shutdown(wait=True)
