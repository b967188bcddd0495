"""A user's pandas, polars or pyarrow frame as one Arrow table, in types that every engine carries.

Each value arrives as it is, or the frame is refused: nothing is rounded or cut. What pandas
marks as missing (None, NaN, NaT) is NULL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ematix_flow.errors import ContractError, refused
from ematix_flow.spec.types import MOST_DIGITS

if TYPE_CHECKING:
    import pyarrow as pa

_FRAMES = {
    "pyspark": ("DataFrame",),
    "pandas": ("DataFrame",),
    "polars": ("DataFrame", "LazyFrame"),
    "pyarrow": ("Table", "RecordBatch", "RecordBatchReader"),
}


def library_of(value: object) -> str | None:
    """Return the library whose frame *value* is, None where it is no frame. Imports none."""
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    return library if kind.__name__ in _FRAMES.get(library, ()) else None


def arrow_table(frame: Any) -> pa.Table:
    """Return a local frame as an Arrow table."""
    import pyarrow as pa

    match library_of(frame):
        case "pandas":
            found = _from_pandas(frame)
        case "polars":
            whole = frame.collect() if type(frame).__name__ == "LazyFrame" else frame
            found = whole.to_arrow()
        case _ if isinstance(frame, pa.RecordBatch):
            found = pa.Table.from_batches([frame])
        case _ if isinstance(frame, pa.RecordBatchReader):
            found = frame.read_all()
        case _:
            found = frame
    if not found.num_columns:
        raise refused("the frame has no columns", "name the columns even if there are no rows")
    columns = [_carried(column, field) for column, field in zip(found, found.schema, strict=True)]
    return pa.table(columns, names=found.column_names)


def _from_pandas(frame: Any) -> pa.Table:
    import pyarrow as pa

    named = [name for name in frame.index.names if name is not None]
    if named:
        raise refused(
            f"the frame's index {named[0]!r} is no column, and would be lost",
            "make it one: df.reset_index(), or drop it: df.reset_index(drop=True)",
        )
    if odd := [name for name in frame.columns if not isinstance(name, str)]:
        raise refused(f"the frame has a column {odd[0]!r}: a column's name is text")
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        told = error.args[-1] if error.args else error
        raise refused(
            f"the frame cannot be carried exactly: {told}",
            "give each column values of one type",
        ) from error


def _carried(column: Any, field: pa.Field) -> Any:
    import pyarrow as pa

    wanted = carried_type(field.type)
    if wanted is None:
        raise refused(
            f"column {field.name!r} of the frame is {field.type}, which cannot be carried exactly",
            "cast it, to text if nothing else fits",
        )
    if wanted == field.type:
        return column
    try:
        return column.cast(wanted)
    except pa.ArrowInvalid as error:
        raise ContractError(
            f"column {field.name!r} of the frame is {field.type}, and cannot be carried exactly as "
            f"{wanted}: {str(error).partition(';')[0]}",
            hint="round it in the frame, if that is meant",
        ) from error


def carried_type(kind: pa.DataType) -> pa.DataType | None:
    """Return the plain type that holds the values of *kind*; None where there is none.

    Times finer than a microsecond and integers of 64 bits without a sign are looked at value
    by value when they are cast.
    """
    import pyarrow as pa

    is_ = pa.types
    plain = {
        pa.uint8(): pa.int16(),
        pa.uint16(): pa.int32(),
        pa.uint32(): pa.int64(),
        pa.uint64(): pa.decimal128(20, 0),
        pa.float16(): pa.float32(),
        pa.date64(): pa.date32(),
        pa.large_string(): pa.string(),
        pa.string_view(): pa.string(),
        pa.large_binary(): pa.binary(),
        pa.binary_view(): pa.binary(),
    }
    if kind in plain:
        return plain[kind]
    if is_.is_timestamp(kind):
        return pa.timestamp("us", tz="UTC" if kind.tz else None)
    if is_.is_decimal(kind):
        fits = 0 <= kind.scale <= kind.precision <= MOST_DIGITS
        return pa.decimal128(kind.precision, kind.scale) if fits else None
    if is_.is_dictionary(kind):
        return carried_type(kind.value_type)
    if is_.is_fixed_size_binary(kind):
        return pa.binary()
    if is_.is_list(kind) or is_.is_large_list(kind) or is_.is_fixed_size_list(kind):
        inner = carried_type(kind.value_type)
        return None if inner is None else pa.list_(inner)
    if is_.is_struct(kind):
        inside = [(field.name, carried_type(field.type)) for field in kind]
        return None if any(each is None for _, each in inside) else pa.struct(inside)
    as_it_is = (is_.is_signed_integer, is_.is_floating, is_.is_boolean, is_.is_null, is_.is_date)
    known = any(test(kind) for test in as_it_is) or kind in (pa.string(), pa.binary())
    return kind if known else None
