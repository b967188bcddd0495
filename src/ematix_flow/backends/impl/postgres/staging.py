"""Staged rows on their way into PostgreSQL, by binary COPY into a table of the session.

COPY takes text where the target has a type of its own for it (JSON), so the rows are
shown to SQL through a view that casts it. Text itself is never cast: to `varchar(3)` that
would cut it, where storing it fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from ematix_flow.backends.impl.postgres.failures import ServerError, diagnosis
from ematix_flow.backends.impl.postgres.uuids import UUID_BYTES, uuid_bytes
from ematix_flow.backends.staged import staged_batches, streamed
from ematix_flow.errors import ContractError
from ematix_flow.ports import StagedBatches, StagedFiles
from ematix_flow.spec.arrow_type import arrow_type
from ematix_flow.spec.named_row import named_row
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import (
    JSON,
    JSONB,
    UUID,
    Array,
    DataType,
    String,
    Text,
)
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.type_names import held_as, held_as_json, type_name

if TYPE_CHECKING:
    import pyarrow as pa

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
        case Array(UUID()):
            return "text[]"
        case Array(element):
            return f"{column_type(element)}[]"
        case Text() | String() | JSON() | JSONB():
            return "text"
        case _:
            return type_name(kind, "postgres")


def sent(
    staged: StagedFiles | StagedBatches, table: Table
) -> AbstractContextManager[pa.RecordBatchReader]:
    """Give the rows in the types that COPY sends, a batch at a time."""
    schema = sent_schema(table)
    arriving = staged_batches(staged, schema.names)
    return streamed(_sendable((as_sent(batch, schema) for batch in arriving), table), schema)


def as_sent(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch in the types of `sent_schema`."""
    import pyarrow as pa

    columns = [
        uuid_bytes(column) if pa.types.is_fixed_size_binary(field.type) else column.cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.record_batch(columns, schema=schema)


def definitions(table: Table) -> str:
    """Return the columns of a table that takes what COPY sends."""
    return ", ".join(
        f"{quoted(column.name, 'postgres')} {column_type(column.type)}" for column in table.columns
    )


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
    except (adbc_driver_manager.Error, ServerError) as error:
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


def _sendable(batches: Iterable[pa.RecordBatch], table: Table) -> Iterator[pa.RecordBatch]:
    """Give *batches*, but refuse the text that COPY would: there its row could not be named."""
    import pyarrow as pa

    keys, before = list(table.key_columns), 0
    texts = [field.name for field in sent_schema(table) if pa.types.is_string(field.type)]
    for batch in batches:
        for name in texts:
            place = _place_of_nul(batch[name])
            if place is not None:
                named = row_of_batches((batch.select(keys),), place + 1)
                row = named if keys else f" (row {before + place + 1:,})"
                raise _unwritable({"SQLSTATE": _NUL}, name, row)
        before += batch.num_rows
        yield batch


def _place_of_nul(texts: pa.Array) -> int | None:
    import pyarrow.compute as pc

    found = pc.match_substring(texts, "\0")
    # To look for a place imports pandas, so first ask whether there is one.
    if not pc.any(found).as_py():
        return None
    place: int = pc.index(found, True).as_py()
    return place


def _sent_as(kind: DataType) -> pa.DataType:
    import pyarrow as pa

    if isinstance(kind, UUID):
        return pa.binary(UUID_BYTES)
    return pa.string() if held_as_json(kind, "postgres") else arrow_type(kind)


def _shown(column: Column) -> str:
    name = quoted(column.name, "postgres")
    if not _has_type_of_its_own(column.type):
        return name
    return f"CAST({name} AS {held_as(column, 'postgres').type_name}) AS {name}"


def _has_type_of_its_own(kind: DataType) -> bool:
    if held_as_json(kind, "postgres"):
        return True
    if isinstance(kind, Array):
        return isinstance(kind.element, UUID | JSON | JSONB)
    return isinstance(kind, JSON | JSONB)


def row_of_staged(staged: StagedFiles | StagedBatches, table: Table, number: int) -> str:
    """Name a row of staged files; of rows that only passed, there is nothing left to name."""
    if isinstance(staged, StagedBatches):
        return ""
    if not table.key_columns:
        return f" (row {number:,})"
    return row_of_batches(staged_batches(staged, table.key_columns), number)


def row_of_batches(batches: Iterable[pa.RecordBatch], number: int) -> str:
    """Name a row of batches that hold nothing but the columns that name it."""
    for batch in batches:
        if number <= batch.num_rows:
            [row] = batch.slice(number - 1, 1).to_pylist()
            return f" (row {named_row(row.items())})"
        number -= batch.num_rows
    return ""
