"""A database's tables as views of Spark, for queries that call Python functions."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.references import table_references


def view_name(table: TableName) -> str:
    """Return the name that a database's table has among Spark's views, which have no schemas."""
    return f"{table.schema}__{table.name}" if table.schema else table.name


def over_views(query: exp.Query) -> exp.Query:
    """Return a copy of *query* that reads the views instead of the tables."""
    views = query.copy()
    for name in table_references(query):
        for node in views.find_all(exp.Table):
            if name.schema and node.name == name.name and node.db == name.schema:
                alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name.name))
                view = exp.to_identifier(view_name(name), quoted=True)
                node.replace(exp.Table(this=view, alias=alias))
    return views
