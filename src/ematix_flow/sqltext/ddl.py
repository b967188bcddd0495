"""Tables, created idempotently and outside of the commit."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlglot import exp

from ematix_flow.errors import NotSupported
from ematix_flow.spec.table import Table, TableName
from ematix_flow.sqltext.dialect_names import grammar_of, is_mysql
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.identifiers import table as table_node
from ematix_flow.sqltext.type_names import held_columns
from ematix_flow.sqltext.type_table import COLLATIONS

_LAKES = ("delta", "iceberg")
# A commit is a transaction, which only InnoDB has; text is compared as it is.
_MYSQL_OPTIONS = " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE={}"
_MYSQL_KEY_BYTES = 3072
_MYSQL_ROW_BYTES = 65_535
_VARCHAR = re.compile(r"VARCHAR\((\d+)\)")


def create_schema(name: str, dialect: str) -> str:
    """Return CREATE SCHEMA IF NOT EXISTS."""
    target = exp.Table(db=exp.to_identifier(name, quoted=True))
    return exp.Create(this=target, kind="SCHEMA", exists=True).sql(dialect=grammar_of(dialect))


def drop_table(name: TableName, dialect: str) -> str:
    """Return DROP TABLE."""
    return f"DROP TABLE {table_node(name).sql(dialect=grammar_of(dialect))}"


def create_table(table: Table, name: TableName, dialect: str, *, temporary: bool = False) -> str:
    """Return CREATE TABLE IF NOT EXISTS; what *dialect* cannot hold is an error."""
    kind = "TEMP TABLE" if temporary else "TABLE"
    grammar = grammar_of(dialect)
    held = {
        column.name: each.type_name
        for column, each in zip(table.columns, held_columns(table, dialect), strict=True)
    }
    definitions = [
        f"{quoted(name, grammar)} {held[name]}{'' if nullable else ' NOT NULL'}"
        for name, nullable in ((column.name, column.nullable) for column in table.columns)
    ]
    target = table_node(name).sql(dialect=grammar)
    if dialect in _LAKES:
        _refuse_unique(table, dialect)
        # Their keys are not enforced; what a mode needs of them it asks of the rows.
        partitioned = _partitioned_by(table, grammar)
        listed = ", ".join(definitions)
        return f"CREATE {kind} IF NOT EXISTS {target} ({listed}) USING {dialect}{partitioned}"
    _refuse_partitions(table, dialect)
    if is_mysql(dialect):
        _require_short_row(held, dialect)
    for constraint, names in _keys(table):
        if is_mysql(dialect):
            _require_short_key(names, held, dialect)
        definitions.append(f"{constraint} ({_listed(names, grammar)})")
    options = _MYSQL_OPTIONS.format(COLLATIONS[dialect]) if is_mysql(dialect) else ""
    return f"CREATE {kind} IF NOT EXISTS {target} ({', '.join(definitions)}){options}"


def _keys(table: Table) -> list[tuple[str, tuple[str, ...]]]:
    primary = [("PRIMARY KEY", table.primary_key)] if table.primary_key else []
    return [*primary, *(("UNIQUE", names) for names in table.unique_constraints)]


def _listed(names: Iterable[str], grammar: str) -> str:
    return ", ".join(quoted(name, grammar) for name in names)


def _partitioned_by(table: Table, grammar: str) -> str:
    if not table.partition_columns:
        return ""
    return f" PARTITIONED BY ({_listed(table.partition_columns, grammar)})"


def _refuse_partitions(table: Table, dialect: str) -> None:
    if table.partition_columns:
        raise NotSupported(
            f"partition columns ({', '.join(table.partition_columns)}) are for delta and iceberg; "
            f"tables in {dialect} are not partitioned by flow",
            hint="drop __partition_columns__, or write to a lake",
        )


def _refuse_unique(table: Table, dialect: str) -> None:
    if table.unique_constraints:
        [names, *_] = table.unique_constraints
        raise NotSupported(
            f"{dialect} cannot hold the unique constraint ({', '.join(names)})",
            hint="drop __unique_constraints__, or make them the merge keys",
        )


def _require_short_key(names: Iterable[str], held: dict[str, str], dialect: str) -> None:
    sizes = _text_bytes({name: held[name] for name in names})
    # No other type of a key has more than 255 bytes, and none of those comes near the limit.
    if (total := sum(sizes.values())) > _MYSQL_KEY_BYTES:
        raise NotSupported(
            f"the key with {', '.join(sizes)} has {total:,} bytes in {dialect}, which allows "
            f"{_MYSQL_KEY_BYTES:,} (four for each character)",
            hint="declare shorter String[n]",
        )


def _require_short_row(held: dict[str, str], dialect: str) -> None:
    sizes = _text_bytes(held)
    if (total := sum(sizes.values())) > _MYSQL_ROW_BYTES:
        raise NotSupported(
            f"{', '.join(sizes)} have {total:,} bytes in {dialect}, which allows "
            f"{_MYSQL_ROW_BYTES:,} in a row (four for each character)",
            hint="declare the long ones as Text, which is stored apart",
        )


def _text_bytes(held: dict[str, str]) -> dict[str, int]:
    lengths = {name: _VARCHAR.match(text) for name, text in held.items()}
    return {name: 4 * int(match[1]) for name, match in lengths.items() if match}


def staging_table(table: Table, relation: str, dialect: str) -> str:
    """Return what creates an ordinary table for staged rows, for who has no other.

    Everything may be NULL in it, and it has no key.
    """
    grammar = grammar_of(dialect)
    definitions = ", ".join(
        f"{quoted(column.name, grammar)} {held.type_name}"
        for column, held in zip(table.columns, held_columns(table, dialect), strict=True)
    )
    options = _MYSQL_OPTIONS.format(COLLATIONS[dialect]) if is_mysql(dialect) else ""
    return f"CREATE TABLE {quoted(relation, grammar)} ({definitions}){options}"


def staging_index(table: Table, relation: str, dialect: str) -> str | None:
    """Return what indexes staged rows by the merge keys, which may repeat."""
    if not table.merge_keys:
        return None
    grammar = grammar_of(dialect)
    keys = _listed(table.merge_keys, grammar)
    return f"ALTER TABLE {quoted(relation, grammar)} ADD INDEX ({keys})"
