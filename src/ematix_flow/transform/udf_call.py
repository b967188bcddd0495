"""What Spark's Python workers call: the user's function, between checks of what goes in and out.

Pickled by value into the workers, because a server need not have this package installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ematix_flow.transform.arrow_values import WrongType, as_scalar, same_type, widens
from ematix_flow.transform.udf_failure import UdfFailure, failed, raised

if TYPE_CHECKING:
    import pyarrow as pa

# A larger group is aggregated in parts of this many rows, which are then merged.
ROWS_IN_A_PART = 65_536


@dataclass(frozen=True, kw_only=True)
class Signature:
    """A declared function, as far as a worker needs to know it."""

    name: str
    args: tuple[pa.DataType, ...]
    returns: pa.DataType
    file: str
    line: int

    def failure(self, what: str, hint: str) -> UdfFailure:
        """Build the error that blames the declared line."""
        return failed(f"UDF {self.name} {what}", file=self.file, line=self.line, hint=hint)

    def users(self, method: str, function: Callable[..., object], *arguments: object) -> Any:
        """Call the user's code; what it raises becomes one error that names its line."""
        try:
            return function(*arguments)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # the boundary around user code
            what = f"UDF {self.name}{method} raised"
            raise raised(what, error, file=self.file, line=self.line) from None


def row_call(signature: Signature, function: Callable[..., object]) -> Callable[..., Any]:
    """Return what Spark calls for each batch of rows."""

    def call(*arrays: pa.Array[Any], **named: pa.Array[Any]) -> pa.Array[Any]:
        given = _arguments(signature, arrays, named)
        result = signature.users("", function, *given)
        return _column(signature, result, rows=len(given[0]))

    return call


def aggregate_call(
    signature: Signature, state: Sequence[tuple[str, pa.DataType]], cls: type[Any]
) -> Callable[..., Any]:
    """Return what Spark calls for each group.

    Every part of a group goes through `state` and `merge_batch`, also where there is one part
    only: an aggregate that merges wrongly is wrong everywhere, not just on large groups.
    """

    def call(*arrays: pa.Array[Any], **named: pa.Array[Any]) -> object:
        given = _arguments(signature, arrays, named)
        states = [
            _state(signature, state, cls, [each.slice(start, ROWS_IN_A_PART) for each in given])
            for start in range(0, len(given[0]), ROWS_IN_A_PART)
        ]
        merged = signature.users("", cls)
        if states:
            signature.users(".merge_batch", merged.merge_batch, _as_arrays(state, states))
        return _one(signature, signature.users(".evaluate", merged.evaluate))

    return call


def _arguments(
    signature: Signature, arrays: Sequence[pa.Array[Any]], named: object
) -> list[pa.Array[Any]]:
    if named:
        raise signature.failure("takes its arguments by position", "pass them without names")
    if len(arrays) != len(signature.args):
        raise signature.failure(
            f"takes {len(signature.args)} argument(s), the query passes {len(arrays)}",
            "pass as many as args declares",
        )
    return [
        _argument(signature, number, *pair)
        for number, pair in enumerate(zip(arrays, signature.args, strict=True), start=1)
    ]


def _argument(
    signature: Signature, number: int, given: pa.Array[Any], wanted: pa.DataType
) -> pa.Array[Any]:
    if given.type == wanted:
        return given
    if same_type(given.type, wanted) or widens(given.type, wanted):
        return given.cast(wanted)
    raise signature.failure(
        f"declares its argument {number} as {wanted}, the query passes {given.type}",
        "convert it in the query with CAST(... AS ...), or declare the type it has",
    )


def _column(signature: Signature, result: object, rows: int) -> pa.Array[Any]:
    import pyarrow as pa

    if isinstance(result, pa.ChunkedArray):
        result = result.combine_chunks()
    if not isinstance(result, pa.Array):
        raise signature.failure(
            f"returned {type(result).__name__} instead of a pyarrow Array",
            "build one with pyarrow.array(values, type)",
        )
    if not same_type(result.type, signature.returns):
        raise signature.failure(
            f"returned {result.type}, it declares {signature.returns}",
            "cast the result, or declare the type it has; nothing is converted silently",
        )
    if len(result) != rows:
        raise signature.failure(
            f"returned {len(result)} values for {rows} rows",
            "return one value for each row, NULL where there is none",
        )
    return result.cast(signature.returns)


def _state(
    signature: Signature,
    fields: Sequence[tuple[str, pa.DataType]],
    cls: type[Any],
    part: Sequence[pa.Array[Any]],
) -> list[pa.Scalar[Any]]:
    """Return the state of one part, checked against the declared one."""
    accumulator = signature.users("", cls)
    signature.users(".update_batch", accumulator.update_batch, *part)
    values = signature.users(".state", accumulator.state)
    if not isinstance(values, list | tuple) or len(values) != len(fields):
        shown = f"{len(values)}" if isinstance(values, list | tuple) else type(values).__name__
        raise signature.failure(
            f"has {len(fields)} value(s) in its state, state() returned {shown}",
            "return a list with one value for each declared field",
        )
    checked = []
    for value, (name, wanted) in zip(values, fields, strict=True):
        try:
            checked.append(as_scalar(value, wanted))
        except WrongType as wrong:
            raise signature.failure(
                f"declares {name} of its state as {wanted}, state() returned {wrong}",
                "return that type, or declare the one it has",
            ) from None
    return checked


def _as_arrays(
    fields: Sequence[tuple[str, pa.DataType]], states: Sequence[Sequence[pa.Scalar[Any]]]
) -> list[pa.Array[Any]]:
    """Turn the states of the parts into one array for each field."""
    import pyarrow as pa

    return [
        pa.array([each[number].as_py() for each in states], wanted)
        for number, (_, wanted) in enumerate(fields)
    ]


def _one(signature: Signature, result: object) -> object:
    import pyarrow as pa

    try:
        value = as_scalar(result, signature.returns)
    except WrongType as wrong:
        raise signature.failure(
            f"declares {signature.returns}, evaluate() returned {wrong}",
            "return that type, or declare the one it has",
        ) from None
    # Spark puts it into a list and has pyarrow find the type, which fails on nested NULLs.
    return value if value.is_valid and not pa.types.is_nested(value.type) else value.as_py()
