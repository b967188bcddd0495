"""What every mode's program is written over: the staged rows `s`, the target `t`, the run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from ematix_flow.spec.layout import BATCH_ID, CURSOR, DELETED, LOADED_AT, SEQUENCE, Layout
from ematix_flow.spec.modes import HandleDeletes, OnDuplicateKeys
from ematix_flow.spec.table import Column, TableName
from ematix_flow.spec.types import Boolean
from ematix_flow.sqltext.program.grammar import Grammar
from ematix_flow.sqltext.program.statement import (
    MISSING,
    Effect,
    Found,
    Guard,
    Program,
    Statement,
)
from ematix_flow.sqltext.program.work import CHANGES, INPUT, OP, RUN, STAGING, Run, Work, run_kind


@dataclass(frozen=True)
class Scene:
    """One target's tables and columns, as its database names them."""

    layout: Layout
    name: TableName
    companion: TableName | None
    grammar: Grammar
    work: Work

    @cached_property
    def run(self) -> Run:
        """The row about the run."""
        return Run(self.grammar, self.work, run_kind(self.layout))

    @cached_property
    def target(self) -> str:
        """The target."""
        return self.grammar.table(self.name)

    @cached_property
    def staging(self) -> str:
        """The staged rows."""
        return self.work.table(STAGING)

    @cached_property
    def changes(self) -> str:
        """The changes of this commit."""
        return self.work.table(CHANGES)

    @cached_property
    def memory(self) -> str:
        """The companion, which remembers what the target cannot."""
        assert self.companion is not None
        return self.grammar.table(self.companion)

    # Columns -----------------------------------------------------------------------------------

    @cached_property
    def given(self) -> tuple[Column, ...]:
        """The columns that the input gives."""
        return tuple(self.layout.column(name) for name in self.layout.given)

    @cached_property
    def first_key(self) -> str:
        """A column that is NULL only where an outer join found nothing."""
        return self.layout.keys[0]

    def matches(self, left: str, right: str) -> str:
        """Say that two rows have the same key."""
        return self.grammar.same(left, right, self.layout.keys)

    def is_absent(self, alias: str) -> str:
        """Say that an outer join found no row."""
        return f"{self.grammar.column(alias, self.first_key)} IS NULL"

    def is_there(self, alias: str) -> str:
        """Say that an outer join found a row."""
        return f"{self.grammar.column(alias, self.first_key)} IS NOT NULL"

    def changed(self, left: str, right: str, names: Iterable[str]) -> str:
        """Say that one of these columns differs."""
        columns = [self.layout.column(name) for name in names]
        return self.grammar.any_of([self.grammar.differs(left, right, each) for each in columns])

    def outdated(self, theirs: str, new: str, names: Iterable[str]) -> str:
        """Say that a row of the target is marked as deleted, or differs from a new one."""
        marked = [self.is_marked(theirs)] if self.layout.soft_column else []
        return self.grammar.any_of([*marked, self.changed(new, theirs, names)])

    def is_current(self, alias: str) -> str:
        """Say that a row of history is a current version."""
        assert self.layout.history is not None
        return self.grammar.column(alias, self.layout.history.is_current)

    # Deletions ---------------------------------------------------------------------------------

    def is_deletion(self, alias: str) -> str:
        """Say that a staged row deletes its key."""
        return self.grammar.column(alias, DELETED) if self.layout.has_deletion_flag else "FALSE"

    @property
    def is_snapshot(self) -> bool:
        """Whether a key that the input lacks is gone."""
        return self.layout.handle_deletes is not HandleDeletes.IGNORE

    def is_marked(self, alias: str) -> str:
        """Say that a row of the target is marked as deleted."""
        if self.layout.soft_column is None:
            return "FALSE"
        mark = self.grammar.column(alias, self.layout.soft_column)
        if isinstance(self.layout.column(self.layout.soft_column).type, Boolean):
            return f"COALESCE({mark}, FALSE)"
        return f"{mark} IS NOT NULL"

    def mark(self, *, deleted: bool) -> dict[str, str]:
        """Return what the marking column is set to."""
        if self.layout.soft_column is None:
            return {}
        if isinstance(self.layout.column(self.layout.soft_column).type, Boolean):
            return {self.layout.soft_column: "TRUE" if deleted else "FALSE"}
        return {self.layout.soft_column: self.run.value("loaded_at") if deleted else "NULL"}

    def vanished(self) -> str:
        """Return the FROM and WHERE of target rows `t` whose key the input lacks."""
        # A key is no less there because its rows are set aside.
        aside = self.layout.on_duplicate_keys is OnDuplicateKeys.QUARANTINE
        given = self.work.table(INPUT) if aside else self.staging
        return (
            f"FROM {self.target} AS t LEFT JOIN {given} AS s ON {self.matches('s', 't')} "
            f"WHERE {self.is_absent('s')} AND NOT {self.is_marked('t')}"
        )

    def missing(self, names: Iterable[str], also: str = "") -> tuple[Statement, ...]:
        """Note the keys that a snapshot lacks.

        :param names: The columns of the target's row that are noted.
        :param also: What else must hold for the row `t`.
        """
        if not self.is_snapshot:
            return ()
        names = tuple(names)
        further = f" AND {also}" if also else ""
        gone = f"{self.grammar.columns('t', names)} {self.vanished()}{further}"
        return (self.note(names, f"SELECT '{MISSING}', {gone}"),)

    @property
    def guard(self) -> Guard | None:
        """The limit on vanishing keys."""
        if not self.is_snapshot:
            return None
        current = f"{self.is_current('t')} AND " if self.layout.history else ""
        living = f"SELECT count(*) FROM {self.target} AS t WHERE {current}NOT {self.is_marked('t')}"
        return Guard(living=living, fraction=self.layout.max_delete_fraction)

    # Statements --------------------------------------------------------------------------------

    @property
    def audit(self) -> dict[str, str]:
        """What flow notes on each row that it writes."""
        noted = {LOADED_AT.name: "loaded_at", BATCH_ID.name: "batch_id"}
        return {name: self.run.value(noted[name]) for name in self.layout.audit}

    def op(self, alias: str, *ops: str) -> str:
        """Say that a change is one of these."""
        listed = ", ".join(f"'{op}'" for op in ops)
        return f"{self.grammar.column(alias, OP.name)} IN ({listed})"

    def note(self, names: Iterable[str], query: str) -> Statement:
        """Add changes: *query* gives what is to be done, then these columns."""
        return self.work.fill(CHANGES, (OP.name, *names), query)

    def insert(self, ops: tuple[str, ...], values: dict[str, str]) -> Statement:
        """Insert changes `c` into the target, with further columns."""
        copied = {name: self.grammar.column("c", name) for name in self.layout.given}
        chosen = {**copied, **values, **self.audit}
        listed, wanted = ", ".join(chosen.values()), self.op("c", *ops)
        query = f"SELECT {listed} FROM {self.changes} AS c WHERE {wanted}"
        sql = self.grammar.insert(self.target, chosen, query)
        return Statement(sql=sql, effect=Effect.INSERTED, ops=ops)

    def update(
        self, ops: tuple[str, ...], values: dict[str, str], effect: Effect, *, where: str
    ) -> Statement:
        """Set columns of the target rows `t` that match changes `c`."""
        condition = f"{where} AND {self.op('c', *ops)}"
        sql = self.grammar.update(self.target, values, self.changes, condition)
        return Statement(sql=sql, effect=effect, ops=ops)

    def delete(self, ops: tuple[str, ...], *, where: str) -> Statement:
        """Delete the target rows `t` that match changes `c`."""
        condition = f"{where} AND {self.op('c', *ops)}"
        sql = self.grammar.delete(self.target, self.changes, condition)
        return Statement(sql=sql, effect=Effect.DELETED, ops=ops)

    @property
    def tally(self) -> str:
        """Return the query for the number of changes of each kind."""
        op = self.grammar.name(OP.name)
        return f"SELECT {op}, count(*) FROM {self.changes} GROUP BY {op}"

    @property
    def duplicate_key(self) -> tuple[str, ...]:
        """What a row may have in common with no other: its key, and its place in the order."""
        return (*self.layout.keys, *((SEQUENCE,) if self.layout.order else ()))

    def duplicates(self, rows: str) -> Found:
        """Return the keys that *rows* hold more than once, each with how often."""
        listed = self.grammar.names(self.duplicate_key)
        return Found(
            sql=f"SELECT {listed}, count(*) AS {self.grammar.name('_flow_count')} FROM {rows} "
            f"GROUP BY {listed} HAVING count(*) > 1 ORDER BY {listed}"
        )

    def highest(self, rows: str) -> str | None:
        """Return the query for how far the incremental column of *rows* has come."""
        if not self.layout.has_cursor:
            return None
        return f"SELECT MAX({self.grammar.sorting(self.grammar.name(CURSOR))}) FROM {rows}"

    # Programs ----------------------------------------------------------------------------------

    def program(
        self,
        *tables: tuple[str, tuple[Column, ...]],
        applies: tuple[Statement, ...],
        takes_all: bool = False,
    ) -> Program:
        """Return a program that applies the staged rows as they are.

        :param tables: The tables of this commit, besides the run's row.
        """
        created = [self.run.create]
        for base, columns in tables:
            created.append(self.work.create(base, columns, self.layout.keys))
            created += self.work.index(base, self.layout.keys)
        drops = tuple(self.work.drop(base) for base in (RUN, *(base for base, _ in tables)))
        # What a crash left on MySQL, where these tables outlive the session.
        first = drops if self.grammar.is_mysql else ()
        return Program(
            staging=self.work.name(STAGING),
            set_run=self.run.fill,
            before=(*first, *created),
            applies=applies,
            takes_all=takes_all,
            highest=self.highest(self.staging),
            after=drops,
        )

    def matching(
        self,
        *tables: tuple[str, tuple[Column, ...]],
        computes: tuple[Statement, ...],
        applies: tuple[Statement, ...],
        unchanged: str | None = None,
    ) -> Program:
        """Return a program that first computes its changes, one relation of them."""
        return replace(
            self.program(*tables, applies=applies),
            duplicates=self.duplicates(self.staging),
            computes=computes,
            tally=self.tally,
            unchanged=unchanged,
            guard=self.guard,
        )
