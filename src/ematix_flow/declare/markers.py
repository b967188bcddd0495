"""Markers that fit their columns and each other, known when a table is declared."""

from __future__ import annotations

from ematix_flow._base.location import Location
from ematix_flow._base.suggest import did_you_mean
from ematix_flow.errors import DeclarationError
from ematix_flow.spec.normalize.chain import ChainError, chain
from ematix_flow.spec.normalize.expression import Expression
from ematix_flow.spec.normalize.family import family_of
from ematix_flow.spec.normalize.value import NotNullOr
from ematix_flow.spec.table import Column
from ematix_flow.sqltext.markers import CycleError, ExpressionError, in_order, read_expression


def check_markers(columns: tuple[Column, ...], table: str, location: Location) -> None:
    """Refuse markers that do not fit, with the table's line."""
    for column in columns:
        try:
            chain(column.markers, column.type)
            _check_references(column, columns)
        except (ChainError, ExpressionError) as error:
            raise DeclarationError(
                f"column {column.name!r} of {table}: {error}", where=location, hint=error.hint
            ) from error
    try:
        in_order(columns)
    except CycleError as error:
        raise DeclarationError(
            f"table {table}: {error}",
            where=location,
            hint="let one of them read only columns that read no other",
        ) from error


def _check_references(column: Column, columns: tuple[Column, ...]) -> None:
    names = [each.name for each in columns]
    for marker in column.markers:
        match marker:
            case Expression():
                read_expression(marker, column.name, names)
            case NotNullOr(others):
                for other in others:
                    _check_fallback(marker, other, column, columns)
            case _:
                pass


def _check_fallback(
    marker: NotNullOr, other: str, column: Column, columns: tuple[Column, ...]
) -> None:
    found = next((each for each in columns if each.name == other), None)
    if found is None:
        names = [each.name for each in columns]
        raise ExpressionError(
            f"{marker} reads the column {other!r}, which the table does not declare"
            + did_you_mean(other, names)
            + f" (declared: {', '.join(names)})",
            "for a fixed value use default(...)",
        )
    if found is column:
        raise ExpressionError(f"{marker} reads {other!r} itself")
    if family_of(found.type) is not family_of(column.type):
        raise ExpressionError(
            f"{marker}: {other} is {found.type}, but {column.name} is {column.type}",
            f'convert it: sql("coalesce({{}}, cast({other} AS ...))")',
        )
