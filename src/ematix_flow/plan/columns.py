"""What the query returns against what the target declares, as far as the text alone tells."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.resolve.query import ResolvedQuery
from ematix_flow.spec.pipeline import WriteOptions
from ematix_flow.spec.result import match_columns
from ematix_flow.spec.table import Table


def check_result(query: ResolvedQuery, table: Table, write: WriteOptions) -> None:
    """Refuse a query that returns too little or too much; a star is judged when rows are read."""
    names = result_columns(query.expression)
    if names is None or write.column_map:
        return
    extra = {*write.sequence_by, *filter(None, (write.event_timestamp_column,))}
    declared = {column.casefold() for column in table.column_names}
    # Columns that only say the order need not exist in the target.
    match_columns(
        [name for name in names if name.casefold() in declared or name not in extra], table
    )


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
