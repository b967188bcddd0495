"""Which tables a query reads."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope

from ematix_flow.spec.table import TableName


def table_references(query: exp.Query) -> tuple[TableName, ...]:
    """Return the tables *query* reads, in a stable order; CTEs are not tables."""
    names: dict[TableName, None] = {}
    for scope in traverse_scope(query):
        for source in scope.sources.values():
            if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
                *schema, name = (part.name for part in source.parts)
                names.setdefault(TableName(name=name, schema=".".join(schema) or None))
    return tuple(names)
