"""What the query returns against what the target declares, as far as the text alone tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp, parse_one

from ematix_flow.resolve.query import ResolvedQuery
from ematix_flow.spec.pipeline import WriteOptions
from ematix_flow.spec.result import match_columns
from ematix_flow.spec.table import Table


def check_result(query: ResolvedQuery, table: Table, write: WriteOptions) -> None:
    """Refuse a query that returns too little or too much; a star is judged when rows are read."""
    names = result_columns(query.expression)
    if names is not None:
        match_result(names, table, write)


def match_result(names: Sequence[str], table: Table, write: WriteOptions) -> None:
    """Refuse a result whose columns are too few or too many for *table*."""
    mapped = {old.casefold(): new for old, new in write.column_map}
    renamed = [mapped.get(name.casefold(), name) for name in names]
    declared = {column.casefold() for column in table.column_names}
    # Columns that only say the order, or what is deleted, need not exist in the target.
    aside = {name.casefold() for name in _helpers(write)} - declared
    match_columns([name for name in renamed if name.casefold() not in aside], table)


def _helpers(write: WriteOptions) -> Iterator[str]:
    yield from write.sequence_by
    if write.event_timestamp_column is not None:
        yield write.event_timestamp_column
    if write.apply_as_deletes is not None:
        condition = parse_one(write.apply_as_deletes, dialect="spark")  # as it was checked
        yield from (each.name for each in condition.find_all(exp.Column))


def result_columns(query: exp.Query) -> tuple[str, ...] | None:
    """Return the names of the query's columns; None where the text does not tell them all."""
    names = query.named_selects
    if not names or "*" in names or not all(names):
        return None
    if isinstance(query, exp.Select) and any(_is_open(each) for each in query.expressions):
        return None
    return tuple(names)


def _is_open(selected: exp.Expression) -> bool:
    """Tell whether a selected item may become several columns, or has no name of its own."""
    if selected.find(exp.Star) and not selected.find(exp.Count):
        return True
    return not isinstance(selected, exp.Alias | exp.Column)
