"""Staged rows on their way into PostgreSQL, by binary COPY into a table of the session.

COPY takes text where the target has a type of its own for it (UUID, JSON), so the rows are
shown to SQL through a view that casts it. Text itself is never cast: to `varchar(3)` that
would cut it, where storing it fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ematix_flow.errors import ContractError
from ematix_flow.ports import StagedRows
from ematix_flow.spec.arrow_type import arrow_type
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import (
    JSON,
    JSONB,
    UUID,
    Array,
    DataType,
)
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.type_names import held_as, held_as_json

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_ROWS = 50_000
# "COPY _flow_staging_rows, line 2, column words"
_PLACE = re.compile(r"line (?P<line>\d+), column (?P<column>[^\n:]+)")


def batches(staged: StagedRows, table: Table) -> pa.RecordBatchReader:
    """Return the staged rows in the types that COPY sends, a batch at a time."""
    import pyarrow as pa

    schema = pa.schema([(column.name, _sent_as(column.type)) for column in table.columns])
    return pa.RecordBatchReader.from_batches(schema, _cast(staged, schema))


def shown_as(table: Table, rows: str) -> str:
    """Return the query that gives the sent *rows* in the types of the target."""
    columns = ", ".join(_shown(column) for column in table.columns)
    return f"SELECT {columns} FROM {rows}"  # noqa: S608  # quoted names


def nul_in_text(context: str, staged: StagedRows, table: Table) -> ContractError:
    """Return the error for text with a NUL in it, which PostgreSQL cannot store.

    :param context: Where the server says the COPY was.
    """
    place = _PLACE.search(context)
    column, row = (place["column"], _row(staged, table, int(place["line"]))) if place else ("", "")
    return ContractError(
        f"{column or 'a column'} holds a NUL character (\\0), which PostgreSQL cannot store{row}",
        hint=f"remove it in the query: replace({column or '...'}, char(0), '')",
    )


def _cast(staged: StagedRows, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    for file in staged.files:
        # 96-bit timestamps reach further than nanoseconds can count.
        opened = pq.ParquetFile(file, coerce_int96_timestamp_unit="us")
        for batch in opened.iter_batches(batch_size=_BATCH_ROWS, columns=schema.names):
            yield batch.select(schema.names).cast(schema)


def _sent_as(kind: DataType) -> pa.DataType:
    import pyarrow as pa

    return pa.string() if held_as_json(kind, "postgres") else arrow_type(kind)


def _shown(column: Column) -> str:
    name = quoted(column.name, "postgres")
    if not _has_type_of_its_own(column.type):
        return name
    return f"CAST({name} AS {held_as(column, 'postgres').type_name}) AS {name}"


def _has_type_of_its_own(kind: DataType) -> bool:
    if held_as_json(kind, "postgres"):
        return True
    element = kind.element if isinstance(kind, Array) else kind
    return isinstance(element, UUID | JSON | JSONB)


def _row(staged: StagedRows, table: Table, number: int) -> str:
    """Name the row with that number, counted from 1 over all files."""
    import pyarrow.parquet as pq

    keys = list(table.key_columns)
    if not keys:
        return f" (row {number:,})"
    left = number
    for file in staged.files:
        for batch in pq.ParquetFile(file).iter_batches(batch_size=_BATCH_ROWS, columns=keys):
            if left <= batch.num_rows:
                row: dict[str, Any] = batch.slice(left - 1, 1).to_pylist()[0]
                return f" (row {', '.join(f'{key}={row[key]!r}' for key in keys)})"
            left -= batch.num_rows
    return ""
