"""The rows of a query, by binary COPY: exact, and without a JVM's calendar in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
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


def exported_ahead(database: Connection, query: str, described: pa.Schema) -> pa.RecordBatchReader:
    """Do as `exported`, and fetch a batch while the one before it is being used."""
    import pyarrow as pa

    rows = exported(database, query, described)
    ahead = _ahead(rows, database.cancel)
    return pa.RecordBatchReader.from_batches(carried_schema(described), ahead)


def _ahead(rows: Iterator[pa.RecordBatch], cancel: Callable[[], None]) -> Iterator[pa.RecordBatch]:
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="flow-read") as fetching:
        coming = fetching.submit(next, rows, None)
        try:
            while (batch := coming.result()) is not None:
                coming = fetching.submit(next, rows, None)
                yield batch
        except BaseException:
            # Nobody waits for the batch that is on its way, which may take the server long.
            if not coming.done():
                cancel()
            raise
