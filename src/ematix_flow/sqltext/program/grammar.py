"""What the write programs say differently in each database, and nothing else.

As text: a plan of hundreds of pipelines builds thousands of these, and every name in them is
quoted here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ematix_flow.spec.table import Column, TableName
from ematix_flow.spec.types import JSON, DataType, String, Text, TimestampTZ
from ematix_flow.sqltext.dialect_names import grammar_of
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.identifiers import table as table_node

_MYSQL = ("mysql", "mariadb")
# Functions of ours that the SQLite session knows: it has no digest and no times.
SQLITE_DIGEST = "flow_digest"
SQLITE_ADD = "flow_add_microseconds"
# SQLite takes at most a hundred arguments, unless it was compiled otherwise.
_SQLITE_ARGUMENTS = 90


@dataclass(frozen=True, slots=True)
class Grammar:
    """One database's way of saying it."""

    dialect: str

    @property
    def is_mysql(self) -> bool:
        """Whether it is MySQL or MariaDB, which know no temporary tables that can be joined."""
        return self.dialect in _MYSQL

    # Names -------------------------------------------------------------------------------------

    def name(self, name: str) -> str:
        """Quote a name."""
        return quoted(name, grammar_of(self.dialect))

    def column(self, alias: str, name: str) -> str:
        """Return a column of an alias."""
        return f"{alias}.{self.name(name)}"

    def names(self, names: Iterable[str]) -> str:
        """Return a list of columns."""
        return ", ".join(self.name(name) for name in names)

    def columns(self, alias: str, names: Iterable[str]) -> str:
        """Return a list of columns of an alias."""
        return ", ".join(self.column(alias, name) for name in names)

    def table(self, name: TableName) -> str:
        """Return a table of the target, with its schema."""
        return table_node(name).sql(dialect=grammar_of(self.dialect))

    # Values ------------------------------------------------------------------------------------

    def same(self, left: str, right: str, names: Iterable[str]) -> str:
        """Say that two rows have the same key; keys are never NULL, so that indexes serve."""
        return " AND ".join(
            f"{self.column(left, each)} = {self.column(right, each)}" for each in names
        )

    def differs(self, left: str, right: str, column: Column) -> str:
        """Say that a value differs, where NULL is a value like any other."""
        mine, theirs = (
            self.comparable(self.column(each, column.name), column.type) for each in (left, right)
        )
        return self.distinct(mine, theirs)

    def distinct(self, left: str, right: str) -> str:
        """Say that two values differ, where NULL is a value like any other."""
        if self.is_mysql:
            return f"NOT ({left} <=> {right})"
        if self.dialect == "sqlite":
            return f"{left} IS NOT {right}"
        return f"{left} IS DISTINCT FROM {right}"

    def comparable(self, value: str, kind: DataType) -> str:
        """Return a value in a form that compares exactly."""
        if self.dialect == "postgres" and isinstance(kind, JSON):
            return f"CAST({value} AS TEXT)"  # PostgreSQL cannot compare JSON
        if self.is_mysql and isinstance(kind, Text | String | JSON):
            return f"CAST({value} AS BINARY)"  # whatever the collation of a table that was there
        return value

    def any_of(self, conditions: Sequence[str]) -> str:
        """Say that one of them holds; of none, none does."""
        return f"({' OR '.join(conditions)})" if conditions else "FALSE"

    def joined(self, *texts: str) -> str:
        """Put texts together."""
        return f"CONCAT({', '.join(texts)})" if self.is_mysql else f"({' || '.join(texts)})"

    def sorting(self, text: str) -> str:
        """Return a text that sorts by its bytes."""
        # Any other collation of PostgreSQL may pass over signs; elsewhere bytes are the rule.
        return f'({text}) COLLATE "C"' if self.dialect == "postgres" else text

    def digest(self, alias: str, names: Sequence[str]) -> str:
        """Return a row's canonical bytes, shortened: they decide between equals."""
        values = [self.column(alias, name) for name in names]
        match self.dialect:
            case "postgres":
                return f"md5(CAST(ROW({', '.join(values)}) AS TEXT))"
            case "sqlite":
                return _nested(values)
            case "duckdb":
                return f"md5(CAST(ROW({', '.join(values)}) AS VARCHAR))"
            case _:
                # Each for itself: together they may be longer than a packet. MySQL has no MD5.
                each = (f"IFNULL(SHA2(CAST({value} AS BINARY), 256), '-')" for value in values)
                return f"SHA2(CONCAT_WS(',', {', '.join(each)}), 256)"

    def later(self, moment: str, by: timedelta) -> str:
        """Return a moment moved by a duration."""
        count = by // timedelta(microseconds=1)
        match self.dialect:
            case "sqlite":
                return f"{SQLITE_ADD}({moment}, {count})"
            case "duckdb":
                return f"({moment} + to_microseconds({count}))"
            case "postgres":
                return f"({moment} + INTERVAL '{count} microseconds')"
            case _:
                return f"DATE_ADD({moment}, INTERVAL {count} MICROSECOND)"

    def parameter(self, kind: DataType) -> str:
        """Return a parameter that is given as the text of `moment`."""
        match self.dialect:
            case "sqlite":
                return "?"
            case "mysql" | "mariadb":
                return "CAST(? AS DATETIME(6))"
            case _:
                zone = "TIMESTAMP WITH TIME ZONE" if isinstance(kind, TimestampTZ) else "TIMESTAMP"
                return f"CAST(? AS {zone})"

    def moment(self, instant: datetime, kind: DataType) -> str:
        """Return an instant as the text that `parameter` takes."""
        text = instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        if isinstance(kind, TimestampTZ) and not self.is_mysql:
            return f"{text}Z"
        return text

    # Statements --------------------------------------------------------------------------------

    def insert(self, into: str, names: Iterable[str], query: str) -> str:
        """Insert what a query returns."""
        return f"INSERT INTO {into} ({self.names(names)}) {query}"

    def delete(self, target: str, using: str, where: str) -> str:
        """Delete rows of *target* (known as `t`) that match rows of *using* (known as `c`)."""
        match self.dialect:
            case "sqlite":
                return (
                    f"DELETE FROM {target} AS t WHERE EXISTS "
                    f"(SELECT 1 FROM {using} AS c WHERE {where})"
                )
            case "mysql" | "mariadb":
                return f"DELETE t FROM {target} AS t JOIN {using} AS c ON {where}"
            case _:
                return f"DELETE FROM {target} AS t USING {using} AS c WHERE {where}"

    def update(self, target: str, values: Mapping[str, str], using: str, where: str) -> str:
        """Set columns of *target* (known as `t`) from rows of *using* (known as `c`)."""
        if self.is_mysql:
            setting = ", ".join(
                f"{self.column('t', name)} = {value}" for name, value in values.items()
            )
            return f"UPDATE {target} AS t JOIN {using} AS c ON {where} SET {setting}"
        setting = ", ".join(f"{self.name(name)} = {value}" for name, value in values.items())
        return f"UPDATE {target} AS t SET {setting} FROM {using} AS c WHERE {where}"


def _nested(values: Sequence[str]) -> str:
    if len(values) <= _SQLITE_ARGUMENTS:
        return f"{SQLITE_DIGEST}({', '.join(values)})"
    chunks = range(0, len(values), _SQLITE_ARGUMENTS)
    return _nested([_nested(values[start : start + _SQLITE_ARGUMENTS]) for start in chunks])
