"""The roles that stages ask others to play.

A stage knows these protocols, never a backend: `api` hands in who plays them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ematix_flow.spec.capability import Capabilities
from ematix_flow.spec.contract import Contract
from ematix_flow.spec.counts import RowCounts
from ematix_flow.spec.table import Table, TableName
from ematix_flow.spec.types import DataType
from ematix_flow.spec.window import Ends

if TYPE_CHECKING:
    from pyarrow import RecordBatch, RecordBatchReader
    from pyspark.sql import DataFrame, SparkSession


# What planning may look at -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ActualColumn:
    """A column as the database reports it."""

    name: str
    type: str
    nullable: bool
    primary_key: bool | None = None
    """Whether it is part of the key; None where the database does not tell."""
    collation: str | None = None
    """How its texts compare, where the column has its own way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A table whose rows refer to another, and do not stay as they are when those are deleted.

    :param on_delete: What becomes of them: `CASCADE`, `SET NULL` or `SET DEFAULT`.
    """

    table: str
    on_delete: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivingColumn:
    """A column of a query, and what its values are when they leave the source.

    :param type: None where only the values tell, or where it is none of our types.
    """

    name: str
    type: DataType | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFacts:
    """What can be known of a source without reading a row.

    :param columns: The columns of the relation that was looked at, where they are cheap to know.
    """

    description: str
    size_bytes: int | None = None
    columns: tuple[ActualColumn, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """A commit of a pipeline into a target, as the target itself remembers it.

    :param window: The part of the incremental column that was read: above, and up to.
    :param watermark: How far the pipeline had got with this commit: a later run reads above it.
    """

    run_id: str
    committed_at: str
    rows: RowCounts
    window: Ends = (None, None)
    watermark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFacts:
    """What a target holds before the run: None where there is no such table.

    :param dialect: The SQL it speaks, where that is known only by asking it (MariaDB or MySQL).
    """

    columns: tuple[ActualColumn, ...] | None
    ledger: LedgerEntry | None
    dialect: str | None = None


class StateReader(Protocol):
    """The only eyes of the planner: metadata, never rows, never a write."""

    def source(self, connection: str, relation: str | None) -> SourceFacts:
        """Look at a file or table (or the whole source); SourceError if it cannot be read."""
        ...

    def describe(self, connection: str, query: str) -> tuple[ActualColumn, ...]:
        """Have the source analyse *query*, and return its columns; reads no row."""
        ...

    def describe_alone(self, connection: str, query: str) -> tuple[ActualColumn, ...]:
        """Do as `describe` for a query that names no table: the database need not be there yet."""
        ...

    def arriving(self, connection: str, query: str) -> tuple[ArrivingColumn, ...] | None:
        """Return how the columns of *query* would arrive; None where only Spark can read them."""
        ...

    def target(self, connection: str, table: TableName, pipeline: str) -> TargetFacts:
        """Look at the target's columns and its ledger row for *pipeline*."""
        ...

    def children(self, connection: str, table: TableName) -> tuple[Child, ...]:
        """Return the tables that lose something when rows of *table* are deleted."""
        ...


# Reading --------------------------------------------------------------------------------------


class Reader(Protocol):
    """One open source."""

    def inspect(self, relation: str | None) -> SourceFacts:
        """Look at the source without reading a row."""
        ...

    def describe(self, query: str) -> tuple[ActualColumn, ...]:
        """Have the source analyse *query* and return its columns; reads no row.

        QueryError if the source refuses it; NotSupported where Spark runs the queries.
        """
        ...

    def read_relation(self, spark: SparkSession, relation: str) -> DataFrame:
        """Return a named file or table as rows."""
        ...

    def read_query(self, spark: SparkSession, query: str, scratch: Path) -> DataFrame:
        """Run *query* in the source and return its result as rows.

        :param scratch: A directory of this run for spooled rows; swept with its staging.
        """
        ...


@runtime_checkable
class DescribesAlone(Protocol):
    """What a reader can do beside being one, where its database may not be there yet."""

    def describe_alone(self, query: str) -> tuple[ActualColumn, ...]:
        """Have its kind of database analyse a query that names no table."""
        ...


@runtime_checkable
class ReadsWithoutSpark(Protocol):
    """What a reader can do beside being one: hand its rows to this process."""

    def arriving(self, query: str) -> tuple[ArrivingColumn, ...]:
        """Return the columns of *query* as `batches` gives them; reads no row."""
        ...

    def batches(self, query: str, scratch: Path) -> AbstractContextManager[RecordBatchReader]:
        """Run *query* and give its rows a batch at a time.

        :param scratch: A directory for what has to be spooled; it may not be there yet.
        """
        ...

    def spool(self, query: str, scratch: Path) -> Path:
        """Run *query* and return its rows as a Parquet file in *scratch*."""
        ...


@runtime_checkable
class ReadsInTasks(Protocol):
    """What a reader can do beside being one: let the engine's tasks fetch the rows."""

    def read_in_tasks(
        self, spark: SparkSession, query: str, scratch: Path, held: ExitStack
    ) -> DataFrame:
        """Do as `read_query`, but rows may be fetched when they are asked for, by many at once.

        All of them, however often and whenever they are asked for, see the source as it is now.

        :param held: What this takes stays open until the rows are no longer needed.
        """
        ...


# Writing --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenRow:
    """A staged row that breaks a rule: its key in words, the rule's number, the value."""

    row: str
    rule: int
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedFiles:
    """Rows in Parquet files.

    :param rows: All of them, those included that are still to be set aside.
    """

    files: tuple[Path, ...]
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedTable:
    """Rows in a table of the target, put there by tasks.

    Each row says in its column `_flow_task` who put it there. A task that was tried twice may have
    left its rows twice, so only those of *tasks*, whose attempts won, count.

    :param tasks: None where there was one sender, which was not tried again.
    :param rows: All of them, those included that are still to be set aside.
    :param broken: How many rows stop the load; these and those set aside are not in the table.
    :param samples: Some of them.
    :param aside: Files with the rows that are to be set aside.
    """

    name: str
    tasks: tuple[str, ...] | None
    rows: int
    broken: int = 0
    samples: tuple[BrokenRow, ...] = ()
    aside: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedQuery:
    """Rows that the target's own database selects in the session that commits them.

    :param contract: What the rows must keep.
    :param table: The columns of the query's result.
    :param judged: Whether it says of a row which rule that breaks.
    :param is_settled: Whether it selects the same rows however often it is run: from a table that
        nobody else sees.
    """

    sql: str
    contract: Contract
    table: Table
    judged: bool
    is_settled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedBatches:
    """Rows on their way from the source: they pass once, and nobody has counted them."""

    batches: RecordBatchReader


# What a job has staged and counted; and whatever a session of the target can show.
CountedRows = StagedFiles | StagedTable
StagedRows = CountedRows | StagedBatches | StagedQuery


class RowLoader(Protocol):
    """What a task of the engine calls with its rows; it travels there pickled.

    All rows of a call become durable together or not at all, and none twice. Its pickled form
    holds how to log in: nothing of it may be shown, so its repr hides it.
    """

    def __call__(self, batches: Iterator[RecordBatch], task: str) -> None:
        """Put the rows into staging, each with *task* in the column `_flow_task`."""
        ...


class StagingTable(Protocol):
    """A table of the target that tasks fill by the database's bulk path."""

    @property
    def name(self) -> str:
        """What it is called there."""
        ...

    def create(self) -> None:
        """Create it, empty."""
        ...

    def loader(self) -> RowLoader:
        """Return what tasks call."""
        ...

    def drop(self) -> None:
        """Remove it, if it is there."""
        ...


@runtime_checkable
class PassesRows(StagingTable, Protocol):
    """What a staging table can do beside being one: be filled by a server of its own kind."""

    def passes_from(self, reader: Reader) -> bool:
        """Tell whether it can, from this reader's server."""
        ...

    def pass_rows(self, reader: Reader, query: str, tell: Callable[[int], None]) -> StagedTable:
        """Run *query* there and fill the table with its rows.

        :param tell: Told how many bytes have passed.
        """
        ...


class TargetSession(Protocol):
    """An open target. Everything in a `transaction` lands together or not at all."""

    def columns(self, table: TableName) -> tuple[ActualColumn, ...] | None:
        """Return the table's columns, or None where it does not exist.

        TargetError where it cannot be loaded safely: MySQL has tables without transactions.
        """
        ...

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run one statement and return how many rows it changed."""
        ...

    def fetch(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """Run one query and return its rows."""
        ...

    def show_staging(self, staged: StagedRows, table: Table, relation: str) -> None:
        """Make the staged rows visible to SQL as *relation*, for this session alone."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Commit at the end of the block; roll back when it raises."""
        ...


@runtime_checkable
class KnowsChildren(Protocol):
    """What a session can do beside being one, where deleting rows may change other tables."""

    def children(self, table: TableName) -> tuple[Child, ...]:
        """Return the other tables that lose something when rows of *table* are deleted."""
        ...


class Target(Protocol):
    """A database rows can be committed to."""

    @property
    def dialect(self) -> str:
        """The SQL it speaks."""
        ...

    def exists(self) -> bool:
        """Tell whether the database is there, without creating it."""
        ...

    def open(self) -> AbstractContextManager[TargetSession]:
        """Open it for writing, creating it where it is a file that does not exist yet."""
        ...

    def open_read_only(self) -> AbstractContextManager[TargetSession]:
        """Open it for looking only."""
        ...


@runtime_checkable
class StagesInTable(Protocol):
    """What a target can do beside being one: take staged rows in a table of its own.

    One that cannot is given files: it has a single writer, or no bulk path for tasks.
    """

    def staging_table(self, name: str, rows: Table) -> StagingTable:
        """Return the table *name* for staged *rows*; nothing is created yet."""
        ...

    def sweep_staging(self, leftovers: Sequence[str], relation: str) -> None:
        """Drop tables whose names begin with one of *leftovers*, unless somebody uses them.

        :param relation: What rows are shown as, where that outlives a session.
        """
        ...


class Backend(Protocol):
    """A kind of source or target: what it can do, and how to open it."""

    @property
    def capabilities(self) -> Capabilities:
        """What it supports. Must not import its driver."""
        ...

    def reader(self, connection: object) -> Reader:
        """Return a reader over *connection* (its model in `connections/model/`)."""
        ...

    def target(self, connection: object) -> Target:
        """Return the target behind *connection*."""
        ...
