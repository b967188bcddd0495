"""Text that stands for a value of another type.

Engines read text generously: `2026` as a day, `10:00:00` as a time today, `1.005` as
1.01. Here text is taken only where it says exactly what is stored. Blanks around it do
not matter; beyond that:

- whole numbers: digits and a sign.
- Numeric: a number, also with an exponent, with no more decimals than are declared;
  zeros at the end are none.
- Float, Double: a number, of which the nearest is stored; but one too large (Infinity)
  or too small (0) for the type, and a whole number that does not come back, are losses.
  `NaN` and `Infinity` must be spelt out.
- Date: `2026-03-01`.
- Timestamp: a date, and after `T` or a blank `08:00`, `08:00:59` or up to six decimals of
  seconds. A zone is a loss. A date alone is midnight.
- TimestampTZ: the same, and `Z`, `+01`, `+0100` or `+01:00`. Without one it is UTC.
- Boolean, Bytes (the text's UTF-8): as the engine reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ematix_flow.spec.types import (
    Bytes,
    DataType,
    Date,
    Double,
    Float,
    Numeric,
    Timestamp,
    TimestampTZ,
)
from ematix_flow.sqltext.type_names import type_name

if TYPE_CHECKING:
    from pyspark.sql import Column

BEYOND_BIGINT = 2.0**63
_WIDEST = "decimal(38,0)"

# \z, for $ also matches before a line end.
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?\z"
_NOT_FINITE = r"(?i)^([+-]?inf(inity)?|nan)\z"
_NOT_ZERO = r"^[+-]?[0.]*[1-9]"
_WHOLE = r"^[+-]?[0-9]+(\.0*)?\z"
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
# Nanoseconds are microseconds where their last digits are 0.
_TIME = r"[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.([0-9]{1,6}|[0-9]{6}0{1,3}))?)?"
_ZONE = "(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
_PATTERNS: dict[type[DataType], str] = {
    Date: rf"^{_DATE}\z",
    Timestamp: rf"^{_DATE}({_TIME})?\z",
    TimestampTZ: rf"^{_DATE}({_TIME}({_ZONE})?)?\z",
}


def cast_text(raw: Column, kind: DataType) -> Column:
    """Return the text as a value of *kind*; NULL where the engine cannot read it."""
    from pyspark.sql import functions

    # Blanks are bytes too.
    text = raw if isinstance(kind, Bytes) else functions.trim(raw)
    if isinstance(kind, TimestampTZ):
        text = _in_a_zone(text)
    return text.try_cast(type_name(kind, "spark"))


def text_loses(raw: Column, cast: Column, kind: DataType) -> Column | None:
    """Return when *cast* is not what the text says; None where it always is, or is NULL."""
    from pyspark.sql import functions

    text = functions.trim(raw)
    match kind:
        case Numeric(_, scale):
            return _has_more_decimals(text, scale)
        case Float() | Double():
            return _is_another_number(text, cast)
        case Date() | Timestamp() | TimestampTZ():
            return ~text.rlike(_PATTERNS[type(kind)])
        case _:
            return None


def _in_a_zone(text: Column) -> Column:
    """Say UTC where no zone is named: the session's zone must not decide."""
    from pyspark.sql import functions

    # No engine reads every spelling, so 12:00 becomes 12:00:00, and +01 and +0100 +01:00.
    text = functions.regexp_replace(text, r"^(.{11}[0-9]{2}:[0-9]{2})([Z+-]|\z)", "$1:00$2")

    def ending(pattern: str, suffix: str) -> tuple[Column, Column]:
        return text.rlike(rf"^{_DATE}{pattern}\z"), functions.concat(text, functions.lit(suffix))

    return (
        functions.when(*ending(_TIME, "Z"))
        .when(*ending("", "T00:00:00Z"))
        .when(*ending(_TIME + "[+-][0-9]{2}", ":00"))
        .otherwise(functions.regexp_replace(text, r"([+-][0-9]{2})([0-9]{2})\z", "$1:$2"))
    )


def _has_more_decimals(text: Column, scale: int) -> Column:
    """Count decimals in the text: a decimal type wide enough to compare with need not exist."""
    from pyspark.sql import functions

    plain = rf"^[+-]?[0-9]*\.?[0-9]{{0,{scale}}}\z"
    mantissa = functions.regexp_replace(text, "[eE].*", "")
    digits = functions.regexp_replace(mantissa, "[^0-9]", "")
    significant = functions.length(functions.regexp_replace(digits, r"0+\z", ""))
    decimals = functions.length(functions.regexp_extract(mantissa, r"\.([0-9]*)", 1))
    shift = functions.regexp_extract(text, r"[eE]([+-]?[0-9]{1,4})\z", 1).try_cast("int")
    needed = (
        decimals
        - (functions.length(digits) - significant)
        - functions.coalesce(shift, functions.lit(0))
    )
    exact = text.rlike(_NUMBER) & ((significant == 0) | (needed <= scale))
    # Nearly all text ends here, at its first pattern.
    return ~text.rlike(plain) & ~exact


def _is_another_number(text: Column, cast: Column) -> Column:
    from pyspark.sql import functions

    value = cast.cast("double")
    finite = text.rlike(_NUMBER)
    overflown = functions.abs(value) == float("inf")
    vanished = (value == 0.0) & text.rlike(_NOT_ZERO)
    whole = text.try_cast("bigint")
    same = (value.try_cast("bigint") == whole) & (value < BEYOND_BIGINT)
    # Longer numbers come back where the shortest spelling of the stored value is the text's.
    same_spelling = cast.cast("string").try_cast(_WIDEST) == text.try_cast(_WIDEST)
    comes_back = functions.when(whole.isNotNull(), same).otherwise(
        functions.coalesce(same_spelling, functions.lit(False))
    )
    return functions.when(
        finite, overflown | vanished | (text.rlike(_WHOLE) & ~comes_back)
    ).otherwise(~text.rlike(_NOT_FINITE))
