"""Staged rows as the text that MySQL reads, without loss; what it cannot hold is an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ematix_flow.errors import ContractError
from ematix_flow.spec.arrow_type import arrow_type
from ematix_flow.spec.named_row import named_row, naming_columns
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import Bytes
from ematix_flow.sqltext.type_names import held_as_json

if TYPE_CHECKING:
    import pyarrow as pa

_NULL = "\\N"
# In this order: what the later ones put in has a backslash that must stay one.
_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\0", "\\0"))
# It promises to compute from 1000 on, but stores and compares all of these.
_FIRST_YEAR, _LAST_YEAR = 1, 9999


def texts_of(batch: pa.RecordBatch, table: Table) -> list[pa.Array]:
    """Return each column as the text of its values; bytes as hexadecimal digits."""
    return [_texts(batch, column, table) for column in table.columns]


def lines_of(columns: Sequence[pa.Array]) -> memoryview:
    """Return rows of text as LOAD DATA reads them: tabs between, a line each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    escaped = [_escaped(column) for column in columns]
    lines = pc.binary_join_element_wise(*escaped, "\t")
    whole = pa.ListArray.from_arrays([0, len(lines)], lines)
    joined = pc.binary_join(whole, "\n")[0]
    return memoryview(joined.as_buffer())


def row_named(batch: pa.RecordBatch, position: int, table: Table) -> str:
    """Return which row it is, for a message."""
    names = naming_columns(table)
    return "row " + named_row((name, python_value(batch.column(name)[position])) for name in names)


def python_value(value: Any) -> object:
    """Return an Arrow value for a message."""
    import pyarrow as pa

    try:
        return value.as_py()
    except (ValueError, OverflowError):
        return value.cast(pa.string()).as_py()  # Python has no year 10000


def is_hexadecimal(column: Column) -> bool:
    """Tell whether `texts_of` gives it as digits: bytes are no text."""
    return isinstance(column.type, Bytes)


def _texts(batch: pa.RecordBatch, declared: Column, table: Table) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    values = batch.column(declared.name)
    # 96-bit Parquet timestamps are instants that do not say so.
    wanted = pa.string() if held_as_json(declared.type, "mysql") else arrow_type(declared.type)
    values = values.cast(wanted)
    kind = values.type
    if pa.types.is_floating(kind):
        _refuse(batch, declared, pc.invert(pc.is_finite(values)), table, "is no finite number")
        return values.cast(pa.float64()).cast(pa.string())
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        year = pc.year(values)
        outside = pc.or_(pc.less(year, _FIRST_YEAR), pc.greater(year, _LAST_YEAR))
        _refuse(
            batch, declared, outside, table, f"is not in the years {_FIRST_YEAR:04} to {_LAST_YEAR}"
        )
        naive = values.cast(pa.timestamp("us")) if pa.types.is_timestamp(kind) else values
        return naive.cast(pa.string())
    if pa.types.is_boolean(kind):
        return values.cast(pa.int8()).cast(pa.string())
    if pa.types.is_binary(kind):
        digits = [None if value is None else value.hex() for value in values.to_pylist()]
        return pa.array(digits, type=pa.string())
    return values.cast(pa.string())


def _refuse(
    batch: pa.RecordBatch, declared: Column, wrong: pa.Array, table: Table, why: str
) -> None:
    import pyarrow.compute as pc

    position: int = pc.index(wrong, True).as_py()
    if position < 0:
        return
    value = batch.column(declared.name)[position]
    raise ContractError(
        f"{declared.name} {why}: {python_value(value)}, which MySQL cannot store "
        f"({row_named(batch, position, table)})",
        hint=f"replace {declared.name} in the query",
    )


def _escaped(column: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    for sign, escape in _ESCAPES:
        column = pc.replace_substring(column, sign, escape)
    return pc.fill_null(column, _NULL)
