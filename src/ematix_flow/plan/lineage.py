"""Where each column of a pipeline's query comes from."""

from __future__ import annotations

from ematix_flow.errors import FlowError
from ematix_flow.ports import StateReader
from ematix_flow.resolve.query import ResolvedQuery
from ematix_flow.spec.lineage import Lineage
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.lineage import column_lineage


def query_lineage(query: ResolvedQuery, state: StateReader) -> Lineage:
    """Trace the query's columns; the tables' own columns are looked up only where it takes them."""
    found = column_lineage(query.expression, dialect=query.written_dialect)
    if found.complete:
        return found
    schema = {name: names for name in query.tables if (names := _columns(query, name, state))}
    return column_lineage(query.expression, dialect=query.written_dialect, schema=schema)


def _columns(query: ResolvedQuery, table: TableName, state: StateReader) -> tuple[str, ...]:
    try:
        facts = state.source(query.connection, str(table))
    except FlowError:  # not there yet, or not readable: the lineage then says so
        return ()
    return tuple(column.name for column in facts.columns or ())
