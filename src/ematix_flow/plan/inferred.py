"""A target that is only a name: its columns are those of the query."""

from __future__ import annotations

from ematix_flow.declare.columns import refuse_names
from ematix_flow.declare.write_rules import check_columns
from ematix_flow.errors import NotSupported, PlanError, QueryError, SourceMissing
from ematix_flow.plan.columns import may_reshape
from ematix_flow.ports import ActualColumn, StateReader
from ematix_flow.resolve.query import Input, ResolvedQuery
from ematix_flow.spec.pipeline import Pipeline, TargetSpec
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import DATA_TYPES
from ematix_flow.sqltext.type_texts import read_type


def declared_table(
    target: TargetSpec, pipeline: Pipeline, given: Input, state: StateReader
) -> Table:
    """Return the target's table: declared, or inferred from what the query returns."""
    if isinstance(target.table, Table):
        return target.table
    if target.write.strict_schema:
        raise PlanError(
            f"strict_schema wants declared columns, but target={str(target.name)!r} is only a name",
            where=pipeline.location,
            hint="declare the table with @ematix.table and pass the class",
        )
    if not isinstance(given, ResolvedQuery) or given.dialect == "spark":
        raise NotSupported(
            f"the columns of {target.name} cannot be known before Spark runs",
            where=pipeline.location,
            hint="declare the table with @ematix.table and pass the class",
        )
    if may_reshape(pipeline):
        raise NotSupported(
            f"the columns of {target.name} cannot be known: transforms_pre may change them",
            where=pipeline.location,
            hint="declare the table with @ematix.table and pass the class",
        )
    mapped = {old.casefold(): new for old, new in target.write.column_map}
    columns = []
    for actual in _described(target, pipeline, given, state):
        kind = read_type(actual.type, given.dialect)
        if kind is None or not isinstance(kind, DATA_TYPES):
            raise NotSupported(
                f"column {actual.name!r} of the query is {_told(actual)}, "
                f"so {target.name} cannot be inferred",
                where=pipeline.location,
                hint="CAST it in the query, or declare the table with @ematix.table",
            )
        name = mapped.get(actual.name.casefold(), actual.name)
        columns.append(Column(name=name, type=kind, nullable=True))
    table = Table(name=target.name, columns=tuple(columns), location=pipeline.location)
    refuse_names(table.columns, str(target.name), pipeline.location)
    check_columns(target, table, pipeline.location)
    return table


def _told(column: ActualColumn) -> str:
    if not column.type:  # SQLite gives an expression its type by its value
        return "an expression without a type"
    return f"{column.type}, which none of our types holds"


def _described(
    target: TargetSpec, pipeline: Pipeline, query: ResolvedQuery, state: StateReader
) -> tuple[ActualColumn, ...]:
    try:
        return state.describe(query.connection, query.text)
    except (SourceMissing, QueryError) as error:
        missing = error if isinstance(error, SourceMissing) else _missing(query, state)
        if missing is None:
            raise
        raise PlanError(
            f"the columns of {target.name} are those of its query, and what that reads is not "
            f"there yet: {missing.what}",
            where=pipeline.location,
            hint="run what creates it first, or declare the table with @ematix.table",
        ) from error


def _missing(query: ResolvedQuery, state: StateReader) -> SourceMissing | None:
    """Return the error of the first table of the query that is not there."""
    for table in query.tables:
        try:
            state.source(query.connection, str(table))
        except SourceMissing as error:
            return error
    return None
