"""Projections as SQL text."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ematix_flow.spec.normalize.family import Family
from ematix_flow.spec.table import Table
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.markers.nodes import Node, concat, text
from ematix_flow.sqltext.markers.projection import projections

_SUBSTITUTED = "${"


def rendered(node: Node, dialect: str) -> str:
    """Return an expression as SQL text of *dialect*."""
    if dialect == "spark":
        node = node.copy().transform(_unsubstituted)
    return node.sql(dialect=dialect)


def normalized_select(
    table: Table, query: str, dialect: str, given: Mapping[str, Family] | None = None
) -> str:
    """Return a SELECT over *query* that applies all markers of *table*.

    Ask `needs_spark` first: only what it lets pass means the same on *dialect* as on Spark.
    """
    sql = query
    for number, projection in enumerate(projections(table, given)):
        outputs = ", ".join(
            f"{rendered(node, dialect)} AS {quoted(name, dialect)}"
            for name, node in projection.outputs.items()
        )
        alias = quoted(f"_flow_rows_{number}", dialect)
        sql = f"SELECT {outputs} FROM ({sql}) AS {alias}"  # noqa: S608  # rendered from nodes
    return sql


def _unsubstituted(node: Node) -> Node:
    """Take `${` apart: Spark puts variables of the environment there, even inside of quotes."""
    if not (isinstance(node, exp.Literal) and node.is_string and _SUBSTITUTED in node.name):
        return node
    first, *rest = node.name.split(_SUBSTITUTED)
    parts = [first + "$", *("{" + part + "$" for part in rest[:-1]), "{" + rest[-1]]
    return concat(*(text(part) for part in parts))
