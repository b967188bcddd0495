"""A table on its own: the statements that make it as declared."""

from __future__ import annotations

from collections.abc import Sequence

from ematix_flow.errors import NeedsConsent
from ematix_flow.plan.diff import compare
from ematix_flow.plan.drift import resolve_drift
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.modes import OnDrift
from ematix_flow.spec.table import Table
from ematix_flow.sqltext.ddl import create_schema, create_table
from ematix_flow.sqltext.identifiers import physical_name


def ensure_statements(
    table: Table, actual: Sequence[ActualColumn] | None, on_drift: OnDrift, dialect: str
) -> tuple[str, ...]:
    """Return what to run so that *table* is there as declared; nothing where it already is."""
    name = physical_name(table.name, dialect)
    if actual is None:
        schema = (create_schema(name.schema, dialect),) if name.schema else ()
        return (*schema, create_table(table, name, dialect))
    drift = resolve_drift(compare(table, actual, dialect), on_drift, table.location, name)
    if drift.destructive:
        lost = "; ".join(change.text for change in drift.destructive)
        raise NeedsConsent(
            f"table {name} can only be made as declared with loss: {lost}",
            where=table.location,
            hint="alter it by hand, or run a pipeline into it with --allow-destructive",
        )
    return drift.ddl
