"""The lineage of a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ematix_flow.spec.lineage import ColumnLineage, Influence, Lineage
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.lineage.reader import Reader
from ematix_flow.sqltext.lineage.relation import Output
from ematix_flow.sqltext.references import table_references

if TYPE_CHECKING:
    from sqlglot import exp


def column_lineage(
    query: exp.Query, *, dialect: str, schema: Mapping[TableName, Sequence[str]] | None = None
) -> Lineage:
    """Trace every output column of *query* to the columns of the tables it reads.

    *schema* gives the columns of tables. Without it a query of one table, or one that qualifies
    its columns, is traced all the same; `*` and unqualified columns of a join are not, and the
    column's `reasons` say so. No query that parses is an error.
    """
    reader = Reader(dialect, schema or {})
    rows = reader.query(query, {}, None)
    return Lineage(
        tables=table_references(query),
        columns=tuple(map(_column, rows.outputs)),
        influences=tuple(Influence(column=ref, role=role) for ref, role in reader.influences),
        reasons=tuple(reader.gaps),
    )


def _column(output: Output) -> ColumnLineage:
    found = output.trace
    return ColumnLineage(
        column=output.name,
        kind=found.kind,
        sources=found.sources,
        rows_of=found.rows_of,
        reasons=found.gaps,
    )
