"""Values of a column that the target does not hold as it is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ematix_flow.spec.drifted import Drifted
from ematix_flow.spec.types import String
from ematix_flow.validate.value import cast_value, loses_value, same_type

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType


def misfits(value: Column, actual: DataType, drifted: Drifted) -> Column:
    """Return when the target cannot take *value*, which is of the declared type.

    :param actual: That type, as Spark has it.
    """
    from pyspark.sql import functions

    if drifted.held is None:
        return value.isNotNull()
    unfit = functions.lit(False)
    if drifted.held != drifted.column.type:
        fits = _converted(value, actual, drifted)
        unfit = value.isNotNull() & fits.isNull()
    return unfit if drifted.takes_null else unfit | value.isNull()


def held_value(value: Column, actual: DataType, drifted: Drifted) -> Column | None:
    """Return what the target takes of *value*: NULL where it does not fit; None for no column."""
    if drifted.held is None:
        return None
    return value if drifted.held == drifted.column.type else _converted(value, actual, drifted)


def _converted(value: Column, actual: DataType, drifted: Drifted) -> Column:
    from pyspark.sql import functions

    held = drifted.held
    assert held is not None
    if same_type(actual, held):
        converted, loses = value, None
    else:
        converted = cast_value(value, actual, held)
        loses = loses_value(value, converted, actual, held)
    if isinstance(held, String):
        too_long = functions.length(converted) > held.length
        loses = too_long if loses is None else loses | too_long
    return converted if loses is None else functions.when(~loses, converted)
