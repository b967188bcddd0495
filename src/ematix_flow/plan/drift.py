"""Where a target differs from its declaration.

Allowed, because no row can be lost or refused by it:

- a column of the table that is not declared, as long as it may be NULL: it stays NULL;
- a column declared NOT NULL that may be NULL in the table: every row is judged before
  it is written, so none of ours is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ematix_flow.errors import DriftError
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.table import Table, TableName
from ematix_flow.sqltext.type_names import type_name

_TOKEN = re.compile(r'"(?:[^"]|"")*"|\w+|[^\w\s]')


def check_drift(
    table: Table, name: TableName, actual: Sequence[ActualColumn], dialect: str
) -> None:
    """Refuse a target that is not as declared: rows would be lost or not fit."""
    problems = [*_column_problems(table, actual, dialect), *_key_problems(table, actual)]
    if problems:
        raise DriftError(
            f"table {name} differs from its declaration: {'; '.join(problems)}",
            where=table.location,
            hint="change the declaration, or alter the table by hand; nothing was changed",
        )


def _column_problems(table: Table, actual: Sequence[ActualColumn], dialect: str) -> Iterator[str]:
    found = {column.name.casefold(): column for column in actual}
    declared = {column.name.casefold(): column for column in table.columns}
    for key, column in declared.items():
        if key not in found:
            yield f"{column.name} is declared but missing from the table"
    for key, extra in found.items():
        if key not in declared and not extra.nullable:
            yield f"{extra.name} is in the table, NOT NULL, but not declared"
    for key, column in declared.items():
        if (there := found.get(key)) is None:
            continue
        wanted = type_name(column.type, dialect)
        if _tokens(there.type) != _tokens(wanted):
            yield f"{column.name} is {there.type}, declared as {wanted}"
        # A key is never NULL in a database, whatever was declared.
        if column.nullable and not there.nullable and not column.primary_key:
            yield f"{column.name} is NOT NULL in the table, declared nullable"


def _key_problems(table: Table, actual: Sequence[ActualColumn]) -> Iterator[str]:
    keyed = [column for column in actual if column.primary_key is not None]
    if len(keyed) < len(actual):
        return
    there = [column.name for column in keyed if column.primary_key]
    declared = [column.name for column in table.columns if column.primary_key]
    if {name.casefold() for name in there} != {name.casefold() for name in declared}:
        has = f"the table's primary key is ({', '.join(there)})"
        wanted = f"({', '.join(declared)})" if declared else "none"
        yield f"{has if there else 'the table has no primary key'}, declared is {wanted}"


def _tokens(type_text: str) -> list[str]:
    """Return the words and signs of a type: databases space, case and quote as they like."""
    return [
        (token[1:-1].replace('""', '"') if token[0] == '"' else token).casefold()
        for token in _TOKEN.findall(type_text)
    ]
