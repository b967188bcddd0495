"""Values that a type holds and a database does not.

Only what a database refuses, or would change without a word. A table of facts, by dialect: what
is not in it can be stored.
"""

from __future__ import annotations

from enum import StrEnum

from ematix_flow.spec.types import (
    JSON,
    JSONB,
    Array,
    DataType,
    Double,
    Float,
    String,
    Struct,
    Text,
    Timestamp,
    TimestampTZ,
)
from ematix_flow.spec.types import Date as Day


class Unstorable(StrEnum):
    """What a database may have no value for."""

    NUL = "a NUL character (\\0)"
    NUL_ESCAPE = "the escape \\u0000"
    NAN = "NaN"
    INFINITE = "an infinite number"
    LONG_YEAR = "a year outside of 0001 to 9999"

    def describe(self, value: str | None) -> str:
        """Say what is wrong with *value*."""
        if self in (Unstorable.NAN, Unstorable.INFINITE, Unstorable.LONG_YEAR):
            return f"{value} is {self.value}, which the target cannot store"
        return f"{value!r} holds {self.value}, which the target cannot store"


_TEXT = (Text, String, JSON, JSONB)
_TIME = (Day, Timestamp, TimestampTZ)
_MYSQL = (
    ((Float, Double), (Unstorable.NAN, Unstorable.INFINITE)),
    (_TIME, (Unstorable.LONG_YEAR,)),
)
_FACTS: dict[str, tuple[tuple[tuple[type[DataType], ...], tuple[Unstorable, ...]], ...]] = {
    "postgres": (
        (_TEXT, (Unstorable.NUL,)),
        ((JSONB, Array, Struct), (Unstorable.NUL_ESCAPE,)),
    ),
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "sqlite": (
        ((Float, Double), (Unstorable.NAN,)),
        # As text, which sorts and reads back only with four digits.
        (_TIME, (Unstorable.LONG_YEAR,)),
    ),
}


def unstorable(kind: DataType, dialect: str) -> tuple[Unstorable, ...]:
    """Return which values of *kind* a database that speaks *dialect* cannot store."""
    facts = _FACTS.get(dialect, ())
    return tuple(each for kinds, found in facts if isinstance(kind, kinds) for each in found)
