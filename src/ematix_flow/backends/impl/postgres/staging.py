"""Staged rows on their way into PostgreSQL, by binary COPY into a table of the session.

COPY takes text where the target has a type of its own for it (UUID, JSON), so the rows are
shown to SQL through a view that casts it. Text itself is never cast: to `varchar(3)` that
would cut it, where storing it fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ematix_flow.backends.impl.postgres.failures import diagnosis
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
    Numeric,
    String,
    Text,
)
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.type_names import held_as, held_as_json, type_name

if TYPE_CHECKING:
    import pyarrow as pa

# Says which task staged a row.
TASK = "_flow_task"

_BATCH_ROWS = 50_000
# Bytes that are no text at all (a NUL); a character that the database's encoding has not.
_NUL = "22021"
_NO_SUCH_TEXT = (_NUL, "22P05")
# "COPY _flow_staging_rows, line 2, column words"
_PLACE = re.compile(r"line (?P<line>\d+), column (?P<column>[^\n:]+)")


def sent_schema(rows: Table) -> pa.Schema:
    """Return the types in which COPY sends the staged columns."""
    import pyarrow as pa

    return pa.schema([(column.name, _sent_as(column.type)) for column in rows.columns])


def column_type(kind: DataType) -> str:
    """Return the type of a column that takes what COPY sends."""
    match kind:
        case _ if held_as_json(kind, "postgres"):
            return "text"
        case Array(element):
            return f"{column_type(element)}[]"
        case Text() | String() | UUID() | JSON() | JSONB():
            return "text"
        case Numeric():
            return "numeric"
        case _:
            return type_name(kind, "postgres")


def batches(staged: StagedRows, table: Table) -> pa.RecordBatchReader:
    """Return the rows of staged files in the types that COPY sends, a batch at a time."""
    import pyarrow as pa

    schema = sent_schema(table)
    return pa.RecordBatchReader.from_batches(schema, _cast(staged, schema))


def shown_as(table: Table, rows: str) -> str:
    """Return the query that gives the sent *rows* in the types of the target."""
    columns = ", ".join(_shown(column) for column in table.columns)
    return f"SELECT {columns} FROM {rows}"  # noqa: S608  # quoted names


@contextmanager
def copying(row: Callable[[int], str]) -> Iterator[None]:
    """Say of a text that COPY refuses in which row and column it is.

    :param row: Names the row with that number, counted from 1 over all that were sent.
    """
    import adbc_driver_manager

    try:
        yield
    except adbc_driver_manager.Error as error:
        told = diagnosis(error)
        if told.get("SQLSTATE") not in _NO_SUCH_TEXT:
            raise
        place = _PLACE.search(told.get("CONTEXT", ""))
        named = row(int(place["line"])) if place else ""
        raise _unwritable(told, place["column"] if place else "a column", named) from error


def _unwritable(told: Mapping[str, str], column: str, row: str) -> ContractError:
    if told["SQLSTATE"] == _NUL:
        return ContractError(
            f"{column} holds a NUL character (\\0), which PostgreSQL cannot store{row}",
            hint=f"remove it in the query: replace({column}, char(0), '')",
        )
    return ContractError(
        f"{column} holds text that the database cannot store{row}: "
        f"{told.get('MESSAGE_PRIMARY', '')}",
        hint="replace such characters in the query, or load into a database in UTF8",
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


def naming_columns(rows: Table) -> list[str]:
    """Return the columns that name a staged row."""
    return list(rows.merge_keys or rows.key_columns)


def row_of_files(staged: StagedRows, table: Table, number: int) -> str:
    """Name a row of staged files."""
    import pyarrow.parquet as pq

    keys = naming_columns(table)
    if not keys:
        return f" (row {number:,})"
    batches = (
        batch
        for file in staged.files
        for batch in pq.ParquetFile(file).iter_batches(batch_size=_BATCH_ROWS, columns=keys)
    )
    return row_of_batches(batches, number)


def row_of_batches(batches: Iterable[pa.RecordBatch], number: int) -> str:
    """Name a row of batches that hold nothing but the columns that name it."""
    for batch in batches:
        if number <= batch.num_rows:
            [row] = batch.slice(number - 1, 1).to_pylist()
            return f" (row {', '.join(f'{key}={value!r}' for key, value in row.items())})"
        number -= batch.num_rows
    return ""
