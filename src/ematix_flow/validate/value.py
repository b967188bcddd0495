"""One value cast to a type, and whether that changed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ematix_flow.spec.types import UUID, Array, Double, Float, Struct
from ematix_flow.spec.types import DataType as DeclaredType
from ematix_flow.sqltext.type_names import type_name
from ematix_flow.validate.text import BEYOND_BIGINT, cast_text, text_loses

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType


def cast_value(raw: Column, actual: DataType, kind: DeclaredType) -> Column:
    """Return the value as *kind*; NULL where it is none."""
    from pyspark.sql import functions

    if isinstance(kind, UUID):
        # One spelling, also where a database keeps it as text: it may be a key.
        return functions.lower(raw.try_cast("string"))
    if same_type(actual, kind):
        return raw
    if actual.simpleString() == "string":
        return cast_text(raw, kind)
    return raw.try_cast(type_name(kind, "spark"))


def loses_value(raw: Column, cast: Column, actual: DataType, kind: DeclaredType) -> Column | None:
    """Return when the cast changed the value: digits rounded away, a time of day dropped."""
    simple = actual.simpleString()
    if simple == "string":
        return text_loses(raw, cast, kind)
    # A bare NULL (void, also as an element) has no value to lose, and nothing can be cast to it.
    if simple.startswith(("variant", "binary")) or "void" in simple:
        return None
    changed = ~cast.try_cast(simple).eqNullSafe(raw)
    if simple == "bigint" and isinstance(kind, Float | Double):
        # 2^63 - 1 becomes 2^63 as a double, and casting that back saturates to 2^63 - 1 again.
        return changed | (cast >= BEYOND_BIGINT)
    return changed


def same_type(actual: DataType, kind: DeclaredType) -> bool:
    """Tell whether a value needs no cast: the same type, and inside of it the same names."""
    from pyspark.sql.types import ArrayType, StructType

    match kind:
        case Array(element):
            return isinstance(actual, ArrayType) and same_type(actual.elementType, element)
        case Struct(fields):
            return (
                isinstance(actual, StructType)
                and actual.names == [name for name, _ in fields]
                and all(
                    same_type(mine.dataType, theirs)
                    for mine, (_, theirs) in zip(actual.fields, fields, strict=True)
                )
            )
        case _:
            return actual.simpleString() == type_name(kind, "spark").lower()
