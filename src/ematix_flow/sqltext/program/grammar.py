"""What the write programs say differently in each database, and nothing else.

As text: a plan of hundreds of pipelines builds thousands of these, and every name in them is
quoted here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from ematix_flow.errors import NotSupported
from ematix_flow.spec.table import Column, TableName
from ematix_flow.spec.types import JSON, DataType, String, Text, TimestampTZ
from ematix_flow.sqltext.dialect_names import grammar_of
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.identifiers import table as table_node

# Functions of ours that the SQLite session knows: it has no digest and no times.
SQLITE_DIGEST = "flow_digest"
SQLITE_ADD = "flow_add_microseconds"
# SQLite takes at most a hundred arguments, unless it was compiled otherwise.
_SQLITE_ARGUMENTS = 90
# SQLite and DuckDB take expressions that are a thousand deep.
_CHAINED = 100


class Language(StrEnum):
    """The languages that programs are written in; mypy finds each `match` that misses one."""

    POSTGRES = "postgres"
    MYSQL = "mysql"
    SQLITE = "sqlite"
    DUCKDB = "duckdb"


@dataclass(frozen=True, slots=True)
class Grammar:
    """One database's way of saying it."""

    dialect: str
    language: Language = field(init=False)

    def __post_init__(self) -> None:
        try:
            language = Language(grammar_of(self.dialect))
        except ValueError:
            raise NotSupported(
                f"no write program is built for {self.dialect} "
                f"(built: {', '.join(Language)}, mariadb)",
                hint="write to one of those",
            ) from None
        object.__setattr__(self, "language", language)

    @property
    def is_mysql(self) -> bool:
        """Whether it is MySQL or MariaDB, which know no temporary tables that can be joined."""
        return self.language is Language.MYSQL

    # Names -------------------------------------------------------------------------------------

    def name(self, name: str) -> str:
        """Quote a name."""
        return quoted(name, self.language)

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
        return table_node(name).sql(dialect=self.language)

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
        match self.language:
            case Language.MYSQL:
                return f"NOT ({left} <=> {right})"
            case Language.SQLITE:
                return f"{left} IS NOT {right}"
            case Language.POSTGRES | Language.DUCKDB:
                return f"{left} IS DISTINCT FROM {right}"

    def comparable(self, value: str, kind: DataType) -> str:
        """Return a value in a form that compares exactly, whatever its column's collation."""
        is_text = isinstance(kind, Text | String | JSON)
        match self.language:
            case Language.POSTGRES if isinstance(kind, JSON):
                return f"CAST({value} AS TEXT)"  # PostgreSQL cannot compare JSON
            case Language.POSTGRES | Language.DUCKDB:
                return f'{value} COLLATE "C"' if is_text else value
            case Language.MYSQL:
                return _mysql_bytes(value, kind) if is_text else value
            case Language.SQLITE:
                return f"{value} COLLATE BINARY" if is_text else value

    def any_of(self, conditions: Sequence[str]) -> str:
        """Say that one of them holds; of none, none does."""
        return _chained(conditions, "OR") if conditions else "FALSE"

    def all_of(self, conditions: Sequence[str]) -> str:
        """Say that all of them hold; of none, all do."""
        return _chained(conditions, "AND") if conditions else "TRUE"

    def joined(self, *texts: str) -> str:
        """Put texts together."""
        match self.language:
            case Language.MYSQL:
                return f"CONCAT({', '.join(texts)})"
            case Language.POSTGRES | Language.SQLITE | Language.DUCKDB:
                return f"({' || '.join(texts)})"

    def sorting(self, text: str) -> str:
        """Return a text that sorts by its bytes."""
        match self.language:
            case Language.POSTGRES:
                # Any other collation of it may pass over signs; elsewhere bytes are the rule.
                return f'({text}) COLLATE "C"'
            case Language.MYSQL | Language.SQLITE | Language.DUCKDB:
                return text

    def digest(self, alias: str, columns: Sequence[Column]) -> str:
        """Return a row's canonical bytes, shortened: they decide between equals."""
        values = [self.column(alias, each.name) for each in columns]
        match self.language:
            case Language.POSTGRES:
                return f"md5(CAST(ROW({', '.join(values)}) AS TEXT))"
            case Language.SQLITE:
                return _nested(values)
            case Language.DUCKDB:
                return f"md5(CAST(ROW({', '.join(values)}) AS VARCHAR))"
            case Language.MYSQL:
                # Each for itself: together they may be longer than a packet. MySQL has no MD5.
                exact = (_mysql_bytes(self.column(alias, each.name), each.type) for each in columns)
                shortened = ", ".join(f"IFNULL(SHA2({value}, 256), '-')" for value in exact)
                return f"SHA2(CONCAT_WS(',', {shortened}), 256)"

    def later(self, moment: str, by: timedelta) -> str:
        """Return a moment moved by a duration."""
        count = by // timedelta(microseconds=1)
        match self.language:
            case Language.SQLITE:
                return f"{SQLITE_ADD}({moment}, {count})"
            case Language.DUCKDB:
                return f"({moment} + to_microseconds({count}))"
            case Language.POSTGRES:
                return f"({moment} + INTERVAL '{count} microseconds')"
            case Language.MYSQL:
                return f"DATE_ADD({moment}, INTERVAL {count} MICROSECOND)"

    def parameter(self, kind: DataType) -> str:
        """Return a parameter that is given as the text of `moment`."""
        match self.language:
            case Language.SQLITE:
                return "?"
            case Language.MYSQL:
                return "CAST(? AS DATETIME(6))"
            case Language.POSTGRES | Language.DUCKDB:
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
        match self.language:
            case Language.SQLITE:
                return (
                    f"DELETE FROM {target} AS t WHERE EXISTS "
                    f"(SELECT 1 FROM {using} AS c WHERE {where})"
                )
            case Language.MYSQL:
                return f"DELETE t FROM {target} AS t JOIN {using} AS c ON {where}"
            case Language.POSTGRES | Language.DUCKDB:
                return f"DELETE FROM {target} AS t USING {using} AS c WHERE {where}"

    def update(self, target: str, values: Mapping[str, str], using: str, where: str) -> str:
        """Set columns of *target* (known as `t`) from rows of *using* (known as `c`)."""
        match self.language:
            case Language.MYSQL:
                setting = ", ".join(
                    f"{self.column('t', name)} = {value}" for name, value in values.items()
                )
                return f"UPDATE {target} AS t JOIN {using} AS c ON {where} SET {setting}"
            case Language.POSTGRES | Language.SQLITE | Language.DUCKDB:
                setting = ", ".join(
                    f"{self.name(name)} = {value}" for name, value in values.items()
                )
                return f"UPDATE {target} AS t SET {setting} FROM {using} AS c WHERE {where}"


def _nested(values: Sequence[str]) -> str:
    if len(values) <= _SQLITE_ARGUMENTS:
        return f"{SQLITE_DIGEST}({', '.join(values)})"
    chunks = range(0, len(values), _SQLITE_ARGUMENTS)
    return _nested([_nested(values[start : start + _SQLITE_ARGUMENTS]) for start in chunks])


def _mysql_bytes(value: str, kind: DataType) -> str:
    """Return the bytes of a value: of a text in one encoding, as a table may have another."""
    if isinstance(kind, Text | String | JSON):
        value = f"CONVERT({value} USING utf8mb4)"
    return f"CAST({value} AS BINARY)"


def _chained(conditions: Sequence[str], word: str) -> str:
    """Join conditions, many of them in halves: each is one deeper than the one before."""
    if len(conditions) > _CHAINED:
        half = len(conditions) // 2
        conditions = (_chained(conditions[:half], word), _chained(conditions[half:], word))
    return f"({f' {word} '.join(conditions)})"
