"""The rows of a window, chosen by the values themselves."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from ematix_flow._base.location import Location
from ematix_flow.errors import ContractError, UnknownName
from ematix_flow.spec.cursor import SPARK_KINDS, Cursor, CursorKind
from ematix_flow.spec.window import Bound, Window
from ematix_flow.sqltext.identifiers import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def restrict(frame: DataFrame, window: Window, where: Location) -> DataFrame:
    """Return the rows of *frame* that lie in *window*; those without a value stay, to be judged."""
    from pyspark.sql import functions

    found = {name.casefold(): name for name in frame.columns}.get(window.column.casefold())
    if found is None:
        raise UnknownName.among(
            "column in incremental_column:",
            window.column,
            frame.columns,
            where=where,
            hint="name a column that the query returns",
        )
    if not window.bounds:
        return frame
    simple = frame.schema[found].dataType.simpleString()
    kind = SPARK_KINDS.get(simple.partition("(")[0])
    value = functions.col(quoted(found, "spark"))
    if kind is None:
        raise ContractError(
            f"{window.column} is {simple}, and no incremental column can be that",
            where=where,
            hint="use a whole number, a date, a timestamp, a decimal or text",
        )
    inside = reduce(and_, (_satisfied(value, kind, each, where) for each in window.bounds))
    return frame.where(value.isNull() | inside)


def _satisfied(value: Column, kind: CursorKind, bound: Bound, where: Location) -> Column:
    limit, value = _comparable(value, kind, bound, where)
    match bound.operator:
        case ">":
            return value > limit
        case ">=":
            return value >= limit
        case "<":
            return value < limit
        case _:
            return value <= limit


def _comparable(
    value: Column, kind: CursorKind, bound: Bound, where: Location
) -> tuple[Column, Column]:
    """Return the bound and the value in one type."""
    from pyspark.sql import functions

    cursor = bound.cursor
    text = functions.lit(cursor.value)
    if kind is CursorKind.TEXT:
        return text, value
    if kind.is_number and cursor.kind.is_number:
        return text.cast("double" if kind is CursorKind.DOUBLE else _decimal(cursor)), value
    if kind is CursorKind.TIMESTAMPTZ and cursor.kind.is_time:
        # What has no zone is UTC.
        return functions.lit(_instant(cursor)).cast("timestamp"), value
    if kind.is_time and cursor.kind.is_time:
        return text.cast("timestamp_ntz"), value.cast("timestamp_ntz")
    raise ContractError(
        f"the window is {bound}, and the query returns that column as {kind.value}",
        where=where,
        hint="give bounds of the column's own type; a changed column needs a new first load",
    )


def _instant(cursor: Cursor) -> str:
    midnight = " 00:00:00" if cursor.kind is CursorKind.DATE else ""
    return f"{cursor.value}{midnight}+00:00"


def _decimal(cursor: Cursor) -> str:
    decimals = len(cursor.value.partition(".")[2])
    return f"decimal(38,{min(decimals, 18)})"
