"""The roles that stages ask others to play.

A stage knows these protocols, never a backend: `api` hands in who plays them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ematix_flow.spec.capability import Capabilities
from ematix_flow.spec.table import Table, TableName

if TYPE_CHECKING:
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
    """The last commit of a pipeline into a target, as the target itself remembers it."""

    run_id: str
    committed_at: str
    rows_inserted: int
    rows_deleted: int
    watermark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFacts:
    """What a target holds before the run: None where there is no such table."""

    columns: tuple[ActualColumn, ...] | None
    ledger: LedgerEntry | None


class StateReader(Protocol):
    """The only eyes of the planner: metadata, never rows, never a write."""

    def source(self, connection: str, relation: str | None) -> SourceFacts:
        """Look at a file or table (or the whole source); SourceError if it cannot be read."""
        ...

    def describe(self, connection: str, query: str) -> tuple[ActualColumn, ...]:
        """Have the source analyse *query*, and return its columns; reads no row."""
        ...

    def target(self, connection: str, table: TableName, pipeline: str) -> TargetFacts:
        """Look at the target's columns and its ledger row for *pipeline*."""
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


# Writing --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedRows:
    """Rows that are durable in staging and not yet in the target."""

    files: tuple[Path, ...]
    rows: int


class TargetSession(Protocol):
    """An open target. Everything between `begin` and `commit` lands together or not at all."""

    def columns(self, table: TableName) -> tuple[ActualColumn, ...] | None:
        """Return the table's columns, or None where it does not exist."""
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


class Backend(Protocol):
    """A kind of source or target: what it can do, and how to open it."""

    @property
    def capabilities(self) -> Capabilities:
        """What it supports. Must not import its driver."""
        ...

    def reader(self, connection: object) -> Reader:
        """Return a reader over *connection* (its model in `connections/model.py`)."""
        ...

    def target(self, connection: object) -> Target:
        """Return the target behind *connection*."""
        ...
