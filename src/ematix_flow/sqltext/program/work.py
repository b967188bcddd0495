"""The tables of one commit: its run, and the changes it computes. They go with the commit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from ematix_flow.spec.layout import BATCH_ID, LOADED_AT, Layout
from ematix_flow.spec.table import Column, TableName
from ematix_flow.spec.types import DataType, String, Text, Timestamp, TimestampTZ
from ematix_flow.sqltext.program.grammar import Grammar
from ematix_flow.sqltext.program.statement import Statement
from ematix_flow.sqltext.type_names import held_as

_DRY = "_flow_dry_"
STAGING = "_flow_staging"
INPUT = "_flow_input"
"""The staged rows, where `STAGING` is a view that leaves some of them out."""
OP = Column(name="_flow_op", type=String(10), nullable=True)


@dataclass(frozen=True, slots=True)
class Work:
    """Names and creates the tables of one commit.

    MySQL cannot name a temporary table twice in a statement. There they are ordinary tables
    with a name for each pipeline's target; the fence sees to it that one run uses them at a time.
    A dry run may be beside a run, so it has its own.
    """

    grammar: Grammar
    owner: str
    dry: bool = False

    def name(self, base: str) -> str:
        """Return the plain name of one of these tables."""
        if not self.grammar.is_mysql:
            return base
        own = _shortened(self.owner)
        return f"{_DRY}{own}_{base}" if self.dry else f"{base}_{own}"

    def table(self, base: str) -> str:
        """Return one of these tables as SQL names it."""
        return self.grammar.name(self.name(base))

    def create(self, base: str, columns: Iterable[Column], keys: Iterable[str] = ()) -> str:
        """Return its CREATE TABLE."""
        keys = tuple(keys)
        dialect = self.grammar.dialect
        held = ((each.name, held_as(each, dialect, key=each.name in keys)) for each in columns)
        listed = [f"{self.grammar.name(name)} {each.type_name}" for name, each in held]
        if not self.grammar.is_mysql:
            return f"CREATE TEMP TABLE {self.table(base)} ({', '.join(listed)})"
        # Without an index MariaDB would compare each row with each.
        if keys:
            listed.append(f"KEY ({self.grammar.names(keys)})")
        return f"CREATE TABLE {self.table(base)} ({', '.join(listed)}) ENGINE=InnoDB"

    def fill(self, base: str, names: Iterable[str], query: str) -> Statement:
        """Add what a query returns."""
        table = self.table(base)
        return Statement(sql=self.grammar.insert(table, names, query), fills=table)

    def index(self, base: str, keys: Iterable[str]) -> tuple[str, ...]:
        """Return what makes it found by its key, where its CREATE TABLE does not say so."""
        # SQLite looks through all of it for each row that a DELETE asks about.
        if self.grammar.dialect != "sqlite":
            return ()
        name = self.grammar.name(f"{self.name(base)}_key")
        return (f"CREATE INDEX temp.{name} ON {self.table(base)} ({self.grammar.names(keys)})",)

    def counted(self, computes: Iterable[Statement]) -> tuple[Statement, ...]:
        """Return the statements that fill these tables, each followed by a look at what is there.

        PostgreSQL itself never looks at temporary tables, and then may compare each row with each.
        """
        if self.grammar.dialect != "postgres":
            return tuple(computes)
        looked = (
            (each, *((Statement(sql=f"ANALYZE {each.fills}"),) if each.fills else ()))
            for each in computes
        )
        return tuple(statement for both in looked for statement in both)

    def drop(self, base: str) -> str:
        """Return the statement that removes it, whether or not it is there."""
        return f"DROP TABLE IF EXISTS {self.table(base)}"


RUN = "_flow_run"
CHANGES = "_flow_changes"


@dataclass(frozen=True, slots=True)
class Run:
    """The one row that tells a program about its run.

    :param kind: The type of a version's beginning; TimestampTZ where there is no history.
    """

    grammar: Grammar
    work: Work
    kind: DataType

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in the order of the parameters of `fill`."""
        return (
            Column(name="loaded_at", type=LOADED_AT.type),
            Column(name="batch_id", type=BATCH_ID.type),
            Column(name="at", type=self.kind),
            Column(name="expired", type=self.kind),
        )

    @property
    def create(self) -> str:
        """Return its CREATE TABLE."""
        return self.work.create(RUN, self.columns)

    @property
    def fill(self) -> str:
        """Return the INSERT of its row."""
        values = (
            self.grammar.parameter(each.type) if not isinstance(each.type, Text) else "?"
            for each in self.columns
        )
        names = self.grammar.names(each.name for each in self.columns)
        return f"INSERT INTO {self.work.table(RUN)} ({names}) VALUES ({', '.join(values)})"

    def value(self, name: str) -> str:
        """Return one of its values."""
        return f"(SELECT r.{self.grammar.name(name)} FROM {self.work.table(RUN)} AS r)"


def run_kind(layout: Layout) -> DataType:
    """Return the type of the moments that a program is told."""
    kind = layout.history_type if layout.history else TimestampTZ()
    # Versions that are numbered have no time; nothing asks for it then.
    return kind if isinstance(kind, Timestamp | TimestampTZ) else TimestampTZ()


def carried_name(staging: str) -> str:
    """Return what rows are called that arrived as they left their source, beside the staged."""
    return f"{staging}_carried"


def owner_of(pipeline: str, target: TableName) -> str:
    """Return whose tables these are."""
    return f"{pipeline}\n{target}"


def dry_prefix(pipeline: str, target: TableName) -> str:
    """Return how the names of all tables begin that a dry run may leave when it is killed."""
    return f"{_DRY}{_shortened(owner_of(pipeline, target))}_"


def _shortened(owner: str) -> str:
    return sha256(owner.encode()).hexdigest()[:12]
