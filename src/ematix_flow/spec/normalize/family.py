"""The kinds of values that markers tell apart."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

from ematix_flow.spec.types import (
    JSON,
    JSONB,
    UUID,
    BigInt,
    Boolean,
    DataType,
    Date,
    Double,
    Float,
    Integer,
    Numeric,
    SmallInt,
    String,
    Text,
    Timestamp,
    TimestampTZ,
)


class Family(StrEnum):
    """Values that the same markers work on."""

    TEXT = "text"
    NUMBER = "a number"
    BOOLEAN = "true or false"
    DATE = "a date"
    WALL_CLOCK = "a timestamp without a zone"
    INSTANT = "an instant (a timestamp with a zone)"
    OTHER = "bytes, an array or a struct"


EVERY = frozenset(Family)
TEXT = frozenset({Family.TEXT})
NUMBER = frozenset({Family.NUMBER})
BOOLEAN = frozenset({Family.BOOLEAN})
DATE = frozenset({Family.DATE})
WALL_CLOCK = frozenset({Family.WALL_CLOCK})
INSTANT = frozenset({Family.INSTANT})


def family_of(kind: DataType) -> Family:
    """Return the family of a declared type."""
    match kind:
        case Text() | String() | JSON() | JSONB() | UUID():
            return Family.TEXT
        case SmallInt() | Integer() | BigInt() | Float() | Double() | Numeric():
            return Family.NUMBER
        case Boolean():
            return Family.BOOLEAN
        case Date():
            return Family.DATE
        case Timestamp():
            return Family.WALL_CLOCK
        case TimestampTZ():
            return Family.INSTANT
        case _:
            return Family.OTHER


def family_of_value(value: object) -> Family | None:
    """Return the family of a Python value; None if no column holds it."""
    match value:
        case str():
            return Family.TEXT
        case bool():
            return Family.BOOLEAN
        case int() | float() | Decimal():
            return Family.NUMBER
        case datetime():
            return Family.WALL_CLOCK if value.tzinfo is None else Family.INSTANT
        case date():
            return Family.DATE
        case _:
            return None


def listed(families: frozenset[Family]) -> str:
    """Name families as a person would."""
    return " or ".join(family.value for family in Family if family in families)
