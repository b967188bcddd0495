"""Lineage: what a query's columns are made of, and what decides about its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ematix_flow.spec.table import TableName

Kind = Literal["column", "expression", "aggregate", "constant"]
"""How a value is made: copied, computed, computed over several rows, or read from no table."""

InfluenceRole = Literal["filter", "join", "group_by", "sort"]
"""How a column decides about rows without being part of a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRef:
    """A column of a table that is read."""

    table: TableName
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"

    def to_json(self) -> dict[str, str]:
        """Return the stable form."""
        return {"table": str(self.table), "column": self.column}


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """A column that decides which rows there are, and how."""

    column: ColumnRef
    role: InfluenceRole

    def to_json(self) -> dict[str, str]:
        """Return the stable form."""
        return {**self.column.to_json(), "role": self.role}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnLineage:
    """Where one output column comes from.

    :param sources: the columns its value is computed from, in the order they are met.
    :param rows_of: the tables whose rows it counts without reading a column, as `count(*)` does.
    :param reasons: why the lineage is not complete; empty when it is.
    """

    column: str
    kind: Kind
    sources: tuple[ColumnRef, ...] = ()
    rows_of: tuple[TableName, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing is missing from `sources` and `rows_of`."""
        return not self.reasons

    def to_json(self) -> dict[str, Any]:
        """Return the stable form."""
        return {
            "column": self.column,
            "kind": self.kind,
            "sources": [each.to_json() for each in self.sources],
            "rows_of": [str(each) for each in self.rows_of],
            "complete": self.complete,
            "reasons": list(self.reasons),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """The lineage of one query, its columns in their order.

    :param influences: the columns that decide about rows, anywhere in the query.
    :param reasons: why `influences` may lack some; each column has reasons of its own.
    """

    tables: tuple[TableName, ...]
    columns: tuple[ColumnLineage, ...]
    influences: tuple[Influence, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every column and every influence could be traced."""
        return not self.reasons and all(each.complete for each in self.columns)

    def to_json(self) -> dict[str, Any]:
        """Return the stable form: equal lineages give equal documents."""
        return {
            "tables": [str(each) for each in self.tables],
            "columns": [each.to_json() for each in self.columns],
            "influences": [each.to_json() for each in self.influences],
            "complete": self.complete,
            "reasons": list(self.reasons),
        }

    def to_openlineage(self, namespace: str) -> dict[str, Any]:
        """Return the body of OpenLineage's `columnLineage` facet; all tables in one namespace."""
        return {
            "fields": {
                each.column: {
                    "inputFields": [
                        _input(source, namespace, "DIRECT", _DIRECT[each.kind])
                        for source in each.sources
                    ]
                }
                for each in self.columns
            },
            "dataset": [
                _input(each.column, namespace, "INDIRECT", each.role.upper())
                for each in self.influences
            ],
        }


_DIRECT: dict[Kind, str] = {
    "column": "IDENTITY",
    "expression": "TRANSFORMATION",
    "aggregate": "AGGREGATION",
    "constant": "TRANSFORMATION",
}


def _input(source: ColumnRef, namespace: str, kind: str, subtype: str) -> dict[str, Any]:
    return {
        "namespace": namespace,
        "name": str(source.table),
        "field": source.column,
        "transformations": [{"type": kind, "subtype": subtype}],
    }
