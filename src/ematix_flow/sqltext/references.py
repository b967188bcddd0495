"""Which tables a query reads."""

from __future__ import annotations

from typing import TypeGuard

from sqlglot import exp

from ematix_flow.spec.table import TableName

# Where a tree is expected to name tables that it does not read: `/*+ BROADCAST(t) */`.
_NOT_READ = (exp.Hint, exp.JoinHint)


def table_references(query: exp.Expr) -> tuple[TableName, ...]:
    """Return the tables *query* reads, in the order it names them; CTEs are not tables."""
    names: dict[TableName, None] = {}
    # A stack, not recursion: machines write queries of a thousand UNIONs.
    pending: list[tuple[exp.Expr, frozenset[str]]] = [(query, frozenset())]
    while pending:
        node, ctes = pending.pop()
        if isinstance(node, _NOT_READ):
            continue
        if _is_table(node, ctes):
            names.setdefault(table_name(node))
        clause = node.args.get("with_")
        bodies, seen = _common_tables(clause, ctes) if isinstance(clause, exp.With) else ([], ctes)
        # Reversed, as what comes last into a stack comes first out of it.
        written = node.this if isinstance(node, exp.Insert) else None
        below = node.iter_expressions(reverse=True)
        pending.extend(
            (child, seen) for child in below if child is not clause and child is not written
        )
        pending.extend(reversed(bodies))
    return tuple(names)


def _is_table(node: exp.Expr, ctes: frozenset[str]) -> TypeGuard[exp.Table]:
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        return False
    return bool(node.args.get("db")) or node.name.casefold() not in ctes


def table_name(table: exp.Table) -> TableName:
    """Return a table's name as it is written; catalog and schema become one."""
    *schema, name = (part.name for part in table.parts)
    return TableName(name=name, schema=".".join(schema) or None)


def _common_tables(
    clause: exp.With, ctes: frozenset[str]
) -> tuple[list[tuple[exp.Expr, frozenset[str]]], frozenset[str]]:
    """Return each CTE with the names it can see, and the names the query below them can see.

    A CTE sees those before it, and itself only if it is recursive: in
    `WITH t AS (SELECT * FROM t)` the inner `t` is a table.
    """
    bodies: list[tuple[exp.Expr, frozenset[str]]] = []
    seen = ctes
    for cte in clause.expressions:
        with_itself = seen | {cte.alias.casefold()}
        bodies.append((cte.this, with_itself if clause.recursive else seen))
        seen = with_itself
    return bodies, seen
