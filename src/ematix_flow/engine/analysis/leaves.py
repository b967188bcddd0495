"""The names of what a Spark plan reads."""

from __future__ import annotations

from typing import Any

from ematix_flow.spec.table import TableName

# Rows that stand in the plan itself: a range, literals, an empty relation.
LITERAL_ROWS = frozenset({"Range", "LocalRelation", "OneRowRelation", "EmptyRelation"})
# Rows that Python code or an RDD handed to Spark: where those came from, no plan can tell.
FOREIGN_ROWS = frozenset({"LogicalRDD", "ExternalRDD", "LogicalQueryStage"})


def alias_name(node: Any) -> TableName:
    """Return the name of a `SubqueryAlias`: a view's, a table's, or one that the user gave."""
    identifier = node.identifier()
    return TableName(name=identifier.name(), schema=identifier.qualifier().mkString(".") or None)


def leaf_name(node: Any, kind: str) -> TableName:
    """Return the name of a leaf that has no alias: its table, else the path it reads."""
    match kind:
        case "LogicalRelation":
            return _relation_name(node)
        case "HiveTableRelation":
            return _table_name(node.tableMeta())
        case "DataSourceV2Relation" | "StreamingDataSourceV2Relation":
            return TableName(name=node.name())
        case _:
            return TableName(name=kind)


def _relation_name(node: Any) -> TableName:
    if node.catalogTable().isDefined():
        return _table_name(node.catalogTable().get())
    relation = node.relation()
    if relation.getClass().getSimpleName() == "HadoopFsRelation":
        return TableName(name=relation.location().rootPaths().mkString(","))
    return TableName(name=relation.toString())


def _table_name(table: Any) -> TableName:
    identifier = table.identifier()
    database = identifier.database()
    return TableName(
        name=identifier.table(), schema=database.get() if database.isDefined() else None
    )
