"""The one commit: fence, write program and ledger row land together or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from ematix_flow._base.clock import iso
from ematix_flow.plan.steps import Commit
from ematix_flow.ports import CountedRows, LedgerEntry, StagedQuery, TargetSession
from ematix_flow.spec.layout import LOADED_AT, Layout
from ematix_flow.spec.window import Ends
from ematix_flow.sqltext.bookkeeping import bookkeeping
from ematix_flow.sqltext.program.grammar import Grammar
from ematix_flow.sqltext.program.work import run_kind
from ematix_flow.write.applied import Applied
from ematix_flow.write.duplicates import settle_duplicates
from ematix_flow.write.fence import hold_fence
from ematix_flow.write.in_database import show_rows
from ematix_flow.write.ledger import (
    entry_of_run,
    last_commit,
    moment_after,
    watermark_after,
    write_entry,
)
from ematix_flow.write.stand_ins import standing_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Who commits, and on what terms.

    :param read: How many rows the pipeline's query produced, where they were counted.
    :param quarantined: How many of them were set aside already.
    :param window: The part of the incremental column that was read: above, and up to.
    :param moves_watermark: Whether later runs go on from where this one ends.
    :param quarantine: The file for rows that are set aside here.
    :param consent: Whether its user agreed to lose much.
    :param dry: Count everything, then undo it.
    """

    pipeline: str
    run_id: str
    token: int
    now: datetime
    read: int
    quarantined: int = 0
    window: Ends = (None, None)
    moves_watermark: bool = True
    quarantine: Path | None = None
    consent: bool = False
    dry: bool = False


def commit(
    step: Commit,
    session: TargetSession,
    dialect: str,
    staged: CountedRows | StagedQuery,
    attempt: Attempt,
) -> LedgerEntry:
    """Apply the staged rows and return what the ledger says of it.

    Safe to call again for the same run: the ledger then answers.
    """
    with _shown(session, step, staged, dialect) as shown:
        # What the input itself is guilty of is found before the target is locked.
        aside = settle_duplicates(session, step, attempt.quarantine)
        if isinstance(staged, StagedQuery):
            attempt = replace(attempt, read=shown)
        landing = _Landing(
            step=step,
            session=session,
            dialect=dialect,
            attempt=attempt,
            staged=shown - aside,
            aside=aside,
        )
        return landing.rehearsed() if attempt.dry else landing.committed()


@contextmanager
def _shown(
    session: TargetSession, step: Commit, staged: CountedRows | StagedQuery, dialect: str
) -> Iterator[int]:
    """Show the staged rows and create the tables of this commit; take them away afterwards.

    Gives how many rows are shown.
    """
    shown = show_rows(session, staged, step, dialect)
    try:
        for statement in step.program.before:
            session.execute(statement)
        yield shown
    finally:
        for statement in step.program.after:
            # What failed matters, not whether tidying up after it does: it goes with the session.
            with suppress(Exception):
                session.execute(statement)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Landing:
    """Rows that are shown to the session, about to land.

    :param staged: How many there are to take.
    :param aside: How many more were set aside just now: their keys count as given.
    """

    step: Commit
    session: TargetSession
    dialect: str
    attempt: Attempt
    staged: int
    aside: int

    def committed(self) -> LedgerEntry:
        """Load the rows under the fence, with their ledger row."""
        sql, attempt = bookkeeping(self.dialect), self.attempt
        session, pipeline, name = self.session, attempt.pipeline, str(self.step.target)
        with session.transaction():
            hold_fence(session, sql, pipeline, attempt.token)
            done = entry_of_run(session, sql, pipeline, name, attempt.run_id)
            if done is None:
                done = self._loaded(last_commit(session, sql, pipeline, name))
                write_entry(session, sql, done, pipeline=pipeline, target=name, now=attempt.now)
        return done

    def rehearsed(self) -> LedgerEntry:
        """Load the rows and undo it: that needs neither fence nor ledger, as nothing stays."""
        session, pipeline = self.session, self.attempt.pipeline
        with (
            suppress(_Undone),
            standing_in(session, self.step, self.dialect, pipeline) as step,
            session.transaction(),
        ):
            done = replace(self, step=step)._loaded(None)
            raise _Undone
        return done

    def _loaded(self, last: LedgerEntry | None) -> LedgerEntry:
        """Run the write program and return its ledger row; *last* is that of the commit before."""
        program, attempt, layout = self.step.program, self.attempt, self.step.layout
        now = moment_after(last, attempt.now)
        at = attempt.now if layout.history is None else now
        self.session.execute(program.set_run, _run_row(layout, self.dialect, attempt, at))
        counts = Applied(
            session=self.session,
            program=program,
            target=str(self.step.target),
            staged=self.staged,
            quarantined=attempt.quarantined,
            consent=attempt.consent,
        ).counts()
        reached = self._highest() if attempt.moves_watermark else None
        return LedgerEntry(
            run_id=attempt.run_id,
            committed_at=iso(now),
            rows=replace(counts, read=attempt.read, quarantined=attempt.quarantined + self.aside),
            window=attempt.window,
            watermark=watermark_after(last, reached),
        )

    def _highest(self) -> str | None:
        """Return how far the incremental column has come."""
        if self.step.program.highest is None:
            return None
        [[highest]] = self.session.fetch(self.step.program.highest)
        return None if highest is None else str(highest)


class _Undone(Exception):
    """Ends the transaction of a dry run."""


def _run_row(layout: Layout, dialect: str, attempt: Attempt, at: datetime) -> tuple[str, ...]:
    grammar, kind = Grammar(dialect), run_kind(layout)
    expired = at - layout.ttl if layout.ttl is not None else at
    loaded_at = grammar.moment(attempt.now, LOADED_AT.type)
    return (loaded_at, attempt.run_id, grammar.moment(at, kind), grammar.moment(expired, kind))
