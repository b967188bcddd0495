"""What a write program consists of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MISSING = "missing"
"""The change of a key that a snapshot lacks; no row of the input is behind it."""


class Effect(StrEnum):
    """What a statement's row count counts."""

    INSERTED = "inserted"
    UPDATED = "updated"
    CLOSED = "closed"
    DELETED = "deleted"
    NONE = "none"
    """Nothing that a user would count: our own tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement of a write program.

    :param ops: The changes that it carries out: it must touch as many rows as there are of them.
    :param fills: The table of this commit that it adds rows to.
    """

    sql: str
    effect: Effect = Effect.NONE
    ops: tuple[str, ...] = ()
    fills: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Keys that vanished from a snapshot go only with consent when they are too many.

    :param living: A query for the number of keys that are there.
    """

    living: str
    fraction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A query whose rows may be many: they are counted, or fetched in parts.

    :param sql: The query; where parts matter, in an order.
    """

    sql: str

    @property
    def count(self) -> str:
        """The query for how many there are."""
        return f"SELECT count(*) FROM ({self.sql}) AS d"

    def first(self, most: int) -> str:
        """Return the query for the first of them."""
        return f"{self.sql} LIMIT {most}"

    def part(self, most: int, *, after: int) -> str:
        """Return the query for those that come after the first ones."""
        return f"{self.sql} LIMIT {most} OFFSET {after}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """How staged rows are applied to a target.

    :param staging: The name of the staged rows.
    :param before: What is created before the transaction: tables of this commit alone.
    :param set_run: The statement that tells the program its run; parameters: the columns of
        `work.Run`, in their order.
    :param duplicates: The keys that the input holds more than once, each with how often.
    :param set_aside: The rows of such keys, where those are left out of the load.
    :param computes: What fills the tables of this commit; the target is only read.
    :param tally: A query for the number of changes of each kind.
    :param unchanged: A query for the number of staged rows that changed nothing, where a row may
        be behind several changes.
    :param takes_all: Whether every staged row must be inserted.
    :param highest: A query for how far the incremental column has come, where there is one.
    :param applies: What changes the target, in order.
    :param after: What removes the tables of this commit.
    """

    staging: str
    set_run: str
    applies: tuple[Statement, ...]
    before: tuple[str, ...] = ()
    duplicates: Found | None = None
    set_aside: Found | None = None
    computes: tuple[Statement, ...] = ()
    tally: str | None = None
    unchanged: str | None = None
    guard: Guard | None = None
    takes_all: bool = False
    highest: str | None = None
    after: tuple[str, ...] = ()

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything that runs inside the transaction, in order."""
        return (*self.computes, *self.applies)
