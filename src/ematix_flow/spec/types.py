"""The column types a user declares.

Each is a frozen value (`Numeric(10, 2)`) and, subscripted, an annotation
(`Numeric[10, 2] | None`). How a type is spelt in each database is in `sqltext/type_names.py`.
"""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin

_LONGEST_STRING = 2**31 - 1
# What Spark and Arrow's 128 bits hold of a decimal.
MOST_DIGITS = 38


def _is_count(value: object, least: int, most: int) -> bool:
    """Tell whether *value*, which users write in brackets, is a number in range."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


@dataclass(frozen=True, slots=True)
class DataType:
    """A column's type."""

    # `String[2]` is an ordinary generic alias, so `String[2] | None` and
    # `Annotated[String[2], ...]` are ordinary annotations.
    def __class_getitem__(cls, params: Any) -> Any:
        return types.GenericAlias(cls, params)

    def __str__(self) -> str:
        return type(self).__name__


@dataclass(frozen=True, slots=True)
class SmallInt(DataType):
    """A 16-bit integer."""


@dataclass(frozen=True, slots=True)
class Integer(DataType):
    """A 32-bit integer."""


@dataclass(frozen=True, slots=True)
class BigInt(DataType):
    """A 64-bit integer."""


@dataclass(frozen=True, slots=True)
class Float(DataType):
    """A 32-bit floating-point number."""


@dataclass(frozen=True, slots=True)
class Double(DataType):
    """A 64-bit floating-point number."""


@dataclass(frozen=True, slots=True)
class Boolean(DataType):
    """True or false."""


@dataclass(frozen=True, slots=True)
class Text(DataType):
    """Text of any length."""


@dataclass(frozen=True, slots=True)
class String(DataType):
    """Text of at most `length` characters."""

    length: int

    def __post_init__(self) -> None:
        if not _is_count(self.length, 1, _LONGEST_STRING):
            raise ValueError(f"String[n] takes a positive length, not {self.length!r}")

    def __str__(self) -> str:
        return f"String[{self.length}]"


@dataclass(frozen=True, slots=True)
class Numeric(DataType):
    """An exact decimal of `precision` digits, `scale` of them after the point."""

    precision: int
    scale: int = 0

    def __post_init__(self) -> None:
        if not _is_count(self.precision, 1, MOST_DIGITS):
            raise ValueError(
                f"Numeric[p, s] takes a precision of 1 to {MOST_DIGITS}, not {self.precision!r}"
            )
        if not _is_count(self.scale, 0, self.precision):
            raise ValueError(
                f"Numeric[{self.precision}, s] takes a scale of 0 to {self.precision}, "
                f"not {self.scale!r}"
            )

    def __str__(self) -> str:
        return f"Numeric[{self.precision}, {self.scale}]"


@dataclass(frozen=True, slots=True)
class Date(DataType):
    """A calendar day."""


@dataclass(frozen=True, slots=True)
class Timestamp(DataType):
    """A wall-clock date and time, without a zone."""


@dataclass(frozen=True, slots=True)
class TimestampTZ(DataType):
    """An instant."""


@dataclass(frozen=True, slots=True)
class JSON(DataType):
    """A JSON document, kept as text."""


@dataclass(frozen=True, slots=True)
class JSONB(DataType):
    """A JSON document, kept in the database's binary form where it has one."""


@dataclass(frozen=True, slots=True)
class UUID(DataType):
    """A UUID."""


@dataclass(frozen=True, slots=True)
class Bytes(DataType):
    """A string of bytes."""


@dataclass(frozen=True, slots=True)
class Array(DataType):
    """A list of one element type."""

    element: DataType

    def __post_init__(self) -> None:
        object.__setattr__(self, "element", _as_value(self.element))

    def __str__(self) -> str:
        return f"Array[{self.element}]"


@dataclass(frozen=True, slots=True, init=False)
class Struct(DataType):
    """Named fields: `Struct[("street", Text), ("zip", String[5])]`."""

    fields: tuple[tuple[str, DataType], ...]

    def __init__(self, *fields: tuple[str, Any]) -> None:
        object.__setattr__(self, "fields", tuple(_field(each) for each in fields))

    def __class_getitem__(cls, params: Any) -> Any:
        # To Python `Struct[("a", Text)]` is `Struct["a", Text]`: one field, not two.
        only_one = isinstance(params, tuple) and params and isinstance(params[0], str)
        return types.GenericAlias(cls, (params,) if only_one else params)

    def __str__(self) -> str:
        return "Struct[" + ", ".join(f"{name} {kind}" for name, kind in self.fields) + "]"


DATA_TYPES: tuple[type[DataType], ...] = (
    *(SmallInt, Integer, BigInt, Float, Double, Boolean, Text, String, Numeric),
    *(Date, Timestamp, TimestampTZ, JSON, JSONB, UUID, Bytes, Array, Struct),
)


def from_annotation(annotation: Any) -> tuple[DataType, bool] | None:
    """Return (type, nullable) of `String[2] | None` and its like; None if it is no type."""
    if get_origin(annotation) in (Union, types.UnionType):
        inner = [arg for arg in get_args(annotation) if arg is not type(None)]
        found = from_annotation(inner[0]) if len(inner) == 1 else None
        return (found[0], True) if found else None
    if isinstance(annotation, DataType):
        return annotation, False
    origin = get_origin(annotation)
    if isinstance(origin, type) and issubclass(origin, DataType):
        return origin(*get_args(annotation)), False
    if isinstance(annotation, type) and issubclass(annotation, DataType):
        return annotation(), False
    return None


def _field(pair: Any) -> tuple[str, DataType]:
    match pair:
        case (str(name), kind):
            return name, _as_value(kind)
        case _:
            raise ValueError(f"Struct takes (name, type) pairs, not {pair!r}")


def _as_value(annotation: Any) -> DataType:
    found = from_annotation(annotation)
    if found is None:
        raise ValueError(f"{annotation!r} is not a column type")
    return found[0]
