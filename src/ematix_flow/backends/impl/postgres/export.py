"""The rows of a query, by binary COPY: exact, and without a JVM's calendar in between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ematix_flow.backends.impl.postgres.types import (
    carried,
    carried_schema,
    export_query,
    lost_value,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from adbc_driver_manager.dbapi import Connection


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
