"""Values that the target's database cannot store, found in the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ematix_flow.spec.storable import Unstorable
from ematix_flow.spec.types import Array, DataType, Struct
from ematix_flow.validate.json_text import json_text

if TYPE_CHECKING:
    from pyspark.sql import Column

_FIRST_YEAR, _LAST_YEAR = 1, 9999


def cannot_store(value: Column, kind: DataType, what: Unstorable) -> Column:
    """Return when *value* is what the target has no value for."""
    from pyspark.sql import functions

    match what:
        case Unstorable.NUL:
            return functions.contains(value, functions.lit("\0"))
        case Unstorable.NUL_ESCAPE:
            text = json_text(value, kind) if isinstance(kind, Array | Struct) else value
            # An escaped backslash before it makes it plain text.
            return text.rlike(r"(^|[^\\])(\\\\)*\\u0000")
        case Unstorable.NAN:
            return functions.isnan(value)
        case Unstorable.INFINITE:
            return functions.abs(value) == float("inf")
        case Unstorable.LONG_YEAR:
            return ~functions.year(value).between(_FIRST_YEAR, _LAST_YEAR)
