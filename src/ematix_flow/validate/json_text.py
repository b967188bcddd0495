"""Arrays and structs as JSON text, for databases that have no such types.

Nothing is lost, and whoever reads it need not be careful:

- a field that is NULL is there, as null;
- decimals are texts (`"12.50"`): most readers of JSON would make doubles of them;
- `NaN` and `Infinity`, which JSON has no numbers for, are texts;
- times are ISO 8601 with microseconds, instants in UTC: `"2026-03-01T08:00:00.000000Z"`;
- bytes are base64;
- JSON inside of an array or struct stays the text it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ematix_flow.spec.types import Array, DataType, Numeric, Struct

if TYPE_CHECKING:
    from pyspark.sql import Column

_SECONDS = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
_OPTIONS = {
    "ignoreNullFields": "false",
    "dateFormat": "yyyy-MM-dd",
    "timestampNTZFormat": _SECONDS,
    "timestampFormat": _SECONDS + "'Z'",
    "timeZone": "UTC",
}


def json_text(value: Column, kind: DataType) -> Column:
    """Return an array or struct as JSON text; NULL stays NULL."""
    from pyspark.sql import functions

    return functions.to_json(_with_decimals_as_text(value, kind), _OPTIONS)


def _with_decimals_as_text(value: Column, kind: DataType) -> Column:
    from pyspark.sql import functions

    match kind:
        case Numeric():
            return value.cast("string")
        case Array(element) if _has_decimals(element):
            return functions.transform(value, lambda each: _with_decimals_as_text(each, element))
        case Struct(fields) if _has_decimals(kind):
            rebuilt = functions.struct(
                *(
                    _with_decimals_as_text(value.getField(name), field).alias(name)
                    for name, field in fields
                )
            )
            # A struct of NULLs is not NULL.
            return functions.when(value.isNotNull(), rebuilt)
        case _:
            return value


def _has_decimals(kind: DataType) -> bool:
    match kind:
        case Numeric():
            return True
        case Array(element):
            return _has_decimals(element)
        case Struct(fields):
            return any(_has_decimals(field) for _, field in fields)
        case _:
            return False
