"""Arrow values brought to the declared type, only where that changes no value.

Pickled by value into Spark's Python workers, so it refers to nothing else of this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


class WrongType(Exception):
    """A value is not of the declared type."""


def same_type(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Tell whether two types hold the same values: what may be NULL and zones do not matter."""
    import pyarrow as pa

    if pa.types.is_list(found) and pa.types.is_list(wanted):
        return same_type(found.value_type, wanted.value_type)
    if pa.types.is_struct(found) and pa.types.is_struct(wanted):
        return [field.name for field in found] == [field.name for field in wanted] and all(
            same_type(mine.type, theirs.type) for mine, theirs in zip(found, wanted, strict=True)
        )
    if pa.types.is_timestamp(found) and pa.types.is_timestamp(wanted):
        # An instant is the same in every zone; a wall-clock time is no instant.
        return bool(found.unit == wanted.unit and (found.tz is None) == (wanted.tz is None))
    return bool(found == wanted)


def widens(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Tell whether every value of *found* is a value of *wanted*."""
    import pyarrow as pa

    if pa.types.is_null(found):
        return True
    if pa.types.is_decimal(found) and pa.types.is_decimal(wanted):
        whole = wanted.precision - wanted.scale
        return bool(found.scale <= wanted.scale and found.precision - found.scale <= whole)
    wider = {
        pa.int8(): (pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()),
        pa.int16(): (pa.int32(), pa.int64(), pa.float32(), pa.float64()),
        pa.int32(): (pa.int64(), pa.float64()),
        pa.float32(): (pa.float64(),),
    }
    return wanted in wider.get(found, ())


def as_scalar(value: object, wanted: pa.DataType) -> pa.Scalar[Any]:
    """Return one value, a Scalar or plain Python, as a Scalar of *wanted*."""
    import pyarrow as pa

    if isinstance(value, pa.Scalar):
        if not (same_type(value.type, wanted) or pa.types.is_null(value.type)):
            raise WrongType(f"a {value.type} Scalar")
        return value.cast(wanted)
    try:
        made = pa.scalar(value, wanted)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise WrongType(f"the {type(value).__name__} {value!r:.80}") from None
    # pyarrow makes 1 of 1.5, and drops the zone of a datetime.
    back: Any = made.as_py()
    if back != value and not (value != value and back != back):  # noqa: PLR0124  # NaN
        raise WrongType(f"the {type(value).__name__} {value!r:.80}")
    return made
