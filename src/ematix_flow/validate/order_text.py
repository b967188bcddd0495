"""Values as text that sorts like them, byte by byte, in every database.

- whole numbers: the value + 10^19, in 20 digits;
- days and times: `YYYY-MM-DD HH:MM:SS.ffffff`, instants in UTC; a day is its midnight;
- text: its UTF-8 in hexadecimal digits;
- decimals: a sign that sorts (1, or 0 and the digits counted down from 9), then the digits;
- doubles: the same, with the exponent before the digits.

NULL, NaN, an infinite number and a year that has not four digits have no place: they are NULL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ematix_flow.errors import ContractError
from ematix_flow.spec.cursor import (
    AFTER_ALL,
    COUNTED_DOWN,
    DIGITS,
    EXPONENT_SHIFT,
    WHOLE_DIGITS,
    WHOLE_SHIFT,
)
from ematix_flow.spec.types import MOST_DIGITS

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

    from ematix_flow._base.location import Location

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_TIMES = ("date", "timestamp", "timestamp_ntz")


def can_be_ordered(kind: DataType) -> bool:
    """Tell whether values of *kind* have an order that text can keep."""
    simple = kind.simpleString()
    plain = (*_WHOLE, *_TIMES, "float", "double")
    return simple in plain or simple.startswith(("string", "varchar", "char", "decimal"))


def require_ordered(kind: DataType, name: str, where: Location) -> None:
    """Refuse a column whose type has no order."""
    if not can_be_ordered(kind):
        raise ContractError(
            f"rows cannot be put in order by {name}: the query returns it as {kind.simpleString()}",
            where=where,
            hint="use a whole number, a date, a timestamp, a decimal or text",
        )


def order_text(value: Column, kind: DataType) -> Column:
    """Return *value* as text that sorts like it; NULL where it has no place."""
    from pyspark.sql import functions

    simple = kind.simpleString()
    if simple in _WHOLE:
        shift = functions.lit(str(WHOLE_SHIFT)).cast("decimal(20,0)")
        shifted = value.cast("decimal(20,0)") + shift
        return functions.lpad(shifted.cast("string"), WHOLE_DIGITS, "0")
    if simple in _TIMES:
        return _time_text(value, simple)
    if simple.startswith("decimal"):
        return _decimal_text(value, kind)
    if simple in ("float", "double"):
        return _double_text(value.cast("double"))
    return functions.lower(functions.hex(value.cast("string")))


def _time_text(value: Column, simple: str) -> Column:
    from pyspark.sql import functions

    # The session's zone is UTC. `date_format` knows no more than milliseconds on every engine.
    text = value.cast("timestamp_ntz" if simple == "date" else simple).cast("string")
    seconds = functions.substring(text, 1, 19)
    decimals = functions.rpad(functions.substring(text, 21, 6), 6, "0")
    four_digits = text.rlike(r"^[0-9]{4}-")
    return functions.when(four_digits, functions.concat(seconds, functions.lit("."), decimals))


def _decimal_text(value: Column, kind: DataType) -> Column:
    from pyspark.sql import functions
    from pyspark.sql.types import DecimalType

    assert isinstance(kind, DecimalType)
    # As many digits before the point whatever the type, so that a wider one sorts with it.
    plain = functions.abs(value).cast(f"decimal({kind.precision},{kind.scale})").cast("string")
    decimals = kind.scale + 1 if kind.scale else 0
    return _signed(value < 0, functions.lpad(plain, MOST_DIGITS + decimals, "0"))


def _double_text(value: Column) -> Column:
    from pyspark.sql import functions

    # Seventeen digits tell all doubles apart; a zero has no exponent of its own.
    spelt = functions.format_string("%.16e", functions.abs(value))
    mantissa = functions.substring(spelt, 1, 18)
    exponent = functions.regexp_extract(spelt, "e([+-]?[0-9]+)", 1).try_cast("int")
    biased = functions.when(value == 0, functions.lit(0)).otherwise(exponent + EXPONENT_SHIFT)
    digits = functions.concat(functions.lpad(biased.cast("string"), 3, "0"), mantissa)
    finite = ~functions.isnan(value) & (functions.abs(value) != float("inf"))
    return functions.when(finite, _signed(value < 0, digits))


def _signed(negative: Column, digits: Column) -> Column:
    from pyspark.sql import functions

    down = functions.translate(digits, DIGITS, COUNTED_DOWN)
    below = functions.concat(functions.lit("0"), down, functions.lit(AFTER_ALL))
    return functions.when(negative, below).otherwise(functions.concat(functions.lit("1"), digits))
