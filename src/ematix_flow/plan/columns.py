"""What the query returns against what the target declares, as far as the text alone tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from ematix_flow.errors import UnknownName
from ematix_flow.resolve.query import ResolvedQuery
from ematix_flow.spec.layout import Layout
from ematix_flow.spec.pipeline import Pipeline, TargetSpec, WriteOptions
from ematix_flow.spec.result import match_columns
from ematix_flow.spec.table import Table
from ematix_flow.spec.transform import FunctionStep, SqlStep, TransformRef
from ematix_flow.sqltext.conditions import columns_in

# What may return other columns than it was given.
_RESHAPING = (SqlStep, FunctionStep, TransformRef)


def check_result(
    query: ResolvedQuery, table: Table, layout: Layout, pipeline: Pipeline, target: TargetSpec
) -> None:
    """Refuse a query that returns too little or too much; a star is judged when rows are read."""
    if may_reshape(pipeline):
        return  # which columns there are then, only Spark can tell
    names = result_columns(query.expression)
    if names is not None:
        match_result(names, table, layout, pipeline, target)


def may_reshape(pipeline: Pipeline) -> bool:
    """Tell whether a step after the query may return other columns than it does."""
    return any(isinstance(step, _RESHAPING) for step in pipeline.transforms_pre)


def match_result(
    names: Sequence[str], table: Table, layout: Layout, pipeline: Pipeline, target: TargetSpec
) -> None:
    """Refuse a result whose columns are too few or too many for the target.

    :param table: The columns that are wanted.
    """
    write = target.write
    offered = {name.casefold(): name for name in names}
    for old, _ in write.column_map:
        _require(old, "column_map", offered, pipeline)
    mapped = {old.casefold(): new for old, new in write.column_map}
    renamed = {name.casefold(): mapped.get(name.casefold(), name) for name in names}
    known = {*renamed, *(new.casefold() for new in renamed.values())}
    for asker, name in _helpers(write, pipeline):
        if name.casefold() not in known:
            _require(name, asker, offered, pipeline)
    given = {name.casefold() for name in table.column_names}
    # Columns that only say the order, or what is deleted, need not exist in the target.
    aside = {name.casefold() for _, name in _helpers(write, pipeline)}
    kept = [
        new
        for old, new in ((name, renamed[name.casefold()]) for name in names)
        if not aside & {old.casefold(), new.casefold()} or new.casefold() in given
    ]
    match_columns(kept, table, kept=layout.table.column_names)


def _helpers(write: WriteOptions, pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    yield from (("sequence_by", name) for name in write.sequence_by)
    if write.event_timestamp_column is not None:
        yield "event_timestamp_column", write.event_timestamp_column
    if write.apply_as_deletes is not None:
        yield from (("apply_as_deletes", name) for name in columns_in(write.apply_as_deletes))
    if pipeline.read.incremental_column is not None:
        yield "incremental_column", pipeline.read.incremental_column


def _require(name: str, asker: str, offered: Mapping[str, str], pipeline: Pipeline) -> None:
    if name.casefold() not in offered:
        raise UnknownName.among(
            f"column in {asker}:",
            name,
            offered.values(),
            where=pipeline.location,
            hint="name a column that the query returns",
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
