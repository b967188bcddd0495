"""Where a target differs from its declaration."""

from __future__ import annotations

from collections.abc import Sequence

from ematix_flow.errors import DriftError
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.table import Table, TableName
from ematix_flow.sql.type_names import type_name


def check_drift(
    table: Table, name: TableName, actual: Sequence[ActualColumn], dialect: str
) -> None:
    """Refuse a target whose columns are not those declared: rows would be lost or not fit."""
    found = {column.name.casefold(): column for column in actual}
    declared = {column.name.casefold(): column for column in table.columns}
    problems = [
        f"{column.name} is declared but missing from the table"
        for key, column in declared.items()
        if key not in found
    ]
    problems += [
        f"{column.name} is in the table, NOT NULL, but not declared"
        for key, column in found.items()
        if key not in declared and not column.nullable
    ]
    for key, column in declared.items():
        if key not in found:
            continue
        wanted = type_name(column.type, dialect)
        if _folded(found[key].type) != _folded(wanted):
            problems.append(f"{column.name} is {found[key].type}, declared as {wanted}")
        if column.nullable and not found[key].nullable:
            problems.append(f"{column.name} is NOT NULL in the table, declared nullable")
    if problems:
        raise DriftError(
            f"table {name} differs from its declaration: {'; '.join(problems)}",
            where=table.location,
            hint="change the declaration, or alter the table by hand; nothing was changed",
        )


def _folded(type_text: str) -> str:
    return "".join(type_text.split()).casefold()
