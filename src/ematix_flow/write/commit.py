"""The one commit: fence, write program and ledger row land together or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from ematix_flow.errors import NeedsConsent, TargetError
from ematix_flow.plan.steps import Commit
from ematix_flow.ports import StagedRows, Target, TargetSession
from ematix_flow.spec.counts import RowCounts
from ematix_flow.spec.layout import CURSOR, LOADED_AT, Layout
from ematix_flow.sqltext.bookkeeping import bookkeeping
from ematix_flow.sqltext.program import Effect, Program
from ematix_flow.sqltext.program.grammar import Grammar
from ematix_flow.sqltext.program.statement import MISSING
from ematix_flow.sqltext.program.work import run_kind
from ematix_flow.write.duplicates import settle_duplicates
from ematix_flow.write.fence import hold_fence
from ematix_flow.write.in_database import show_rows
from ematix_flow.write.ledger import Landed, entry_of_run, last_commit, write_entry

_A_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Who commits, and on what terms.

    :param read: How many rows the pipeline's query produced.
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
    window: tuple[str | None, str | None] = (None, None)
    moves_watermark: bool = True
    quarantine: Path | None = None
    consent: bool = False
    dry: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What a commit changed."""

    rows: RowCounts
    watermark: str | None = None
    replayed: bool = False


class _Undone(Exception):
    """Ends the transaction of a dry run."""


def commit(step: Commit, target: Target, staged: StagedRows, attempt: Attempt) -> Committed:
    """Apply the staged rows. Safe to call again for the same run: the ledger then answers."""
    program, name = step.program, str(step.target)
    with target.open() as session, _shown(session, step, staged, target.dialect) as shown:
        # What the input itself is guilty of is found before the target is locked.
        aside = settle_duplicates(session, step, attempt.quarantine)
        try:
            with session.transaction():
                sql = bookkeeping(target.dialect)
                hold_fence(session, sql, attempt.pipeline, attempt.token)
                done = entry_of_run(session, sql, attempt.pipeline, name, attempt.run_id)
                if done is not None:
                    return Committed(rows=done.rows, watermark=done.watermark, replayed=True)
                at = attempt.now
                if step.layout.history is not None:
                    last = last_commit(session, sql, attempt.pipeline, name)
                    at = at if last is None else max(at, _after(last.committed_at))
                session.execute(program.set_run, _run_row(step.layout, target.dialect, attempt, at))
                counts = _apply(session, step, shown.rows - aside, attempt)
                read = attempt.read if staged.query is None else shown.rows
                rows = replace(counts, read=read, quarantined=attempt.quarantined + aside)
                watermark = _highest(session, step, target.dialect)
                landed = Landed(
                    rows=rows,
                    window=attempt.window,
                    watermark=watermark,
                    moves_watermark=attempt.moves_watermark,
                )
                entry = write_entry(
                    session,
                    sql,
                    pipeline=attempt.pipeline,
                    target=name,
                    run_id=attempt.run_id,
                    landed=landed,
                    now=attempt.now,
                )
                if attempt.dry:
                    raise _Undone
        except _Undone:
            pass
    return Committed(rows=entry.rows, watermark=entry.watermark)


@contextmanager
def _shown(
    session: TargetSession, step: Commit, staged: StagedRows, dialect: str
) -> Iterator[StagedRows]:
    """Show the staged rows and create the tables of this commit; take them away afterwards."""
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


def _apply(session: TargetSession, step: Commit, staged: int, attempt: Attempt) -> RowCounts:
    """Compute the changes and carry them out."""
    program, name = step.program, str(step.target)
    for statement in program.computes:
        session.execute(statement.sql)
    noted = _tally(session, program)
    if not attempt.consent:
        _require_few(session, program, noted, name, attempt.quarantined)
    counts = dict.fromkeys(Effect, 0)
    for statement in program.applies:
        touched = session.execute(statement.sql)
        expected = sum(noted.get(op, 0) for op in statement.ops)
        if statement.ops and touched != expected:
            raise _miscounted(name, statement.effect, touched, expected)
        counts[statement.effect] += touched
    if program.takes_all and counts[Effect.INSERTED] != staged:
        raise _miscounted(name, Effect.INSERTED, counts[Effect.INSERTED], staged)
    return RowCounts(
        inserted=counts[Effect.INSERTED],
        updated=counts[Effect.UPDATED],
        closed=counts[Effect.CLOSED],
        deleted=counts[Effect.DELETED],
        unchanged=_unchanged(session, program, noted, staged, counts[Effect.INSERTED]),
    )


def _tally(session: TargetSession, program: Program) -> dict[str, int]:
    if program.tally is None:
        return {}
    return {str(op): int(str(count)) for op, count in session.fetch(program.tally)}


def _unchanged(
    session: TargetSession, program: Program, noted: Mapping[str, int], staged: int, inserted: int
) -> int:
    """Return how many rows of the input changed nothing."""
    if program.unchanged is not None:
        [[count]] = session.fetch(program.unchanged)
        return int(str(count))
    # A key that the input lacks is behind no row of it.
    behind = sum(count for op, count in noted.items() if op != MISSING)
    return staged - (inserted if program.tally is None else behind)


def _require_few(
    session: TargetSession, program: Program, noted: Mapping[str, int], name: str, aside: int
) -> None:
    """Refuse to delete most of a table because a snapshot came short, or a row that is aside."""
    if program.guard is None or not (going := noted.get(MISSING, 0)):
        return
    if aside:
        raise NeedsConsent(
            f"{going:,} keys of {name} are missing from the input and would be deleted, but "
            f"{aside:,} of its rows were set aside, and theirs may be among them; "
            "nothing was written",
            hint="correct those rows in the source; or, if the keys are gone, run again with "
            "--allow-destructive",
        )
    [[living]] = session.fetch(program.guard.living)
    there = int(str(living))
    if going > there * program.guard.fraction:
        raise NeedsConsent(
            f"{going:,} of the {there:,} keys of {name} are missing from the input and would be "
            f"deleted, more than max_delete_fraction={program.guard.fraction}; nothing was written",
            hint="is the source complete? if so, run again with --allow-destructive",
        )


def _miscounted(name: str, effect: Effect, touched: int, expected: int) -> TargetError:
    if effect is Effect.INSERTED:
        return TargetError(
            f"{name} took {touched:,} rows, but {expected:,} were staged; the load was rolled back",
            hint="is there a trigger or rule on the table that drops rows?",
        )
    return TargetError(
        f"{touched:,} rows of {name} would be {effect.value}, but {expected:,} keys changed; "
        "the load was rolled back",
        hint="does the table hold a key more than once? then it is no key, or rows are doubled",
    )


def _run_row(layout: Layout, dialect: str, attempt: Attempt, at: datetime) -> tuple[str, ...]:
    grammar, kind = Grammar(dialect), run_kind(layout)
    expired = at - layout.ttl if layout.ttl is not None else at
    loaded_at = grammar.moment(attempt.now, LOADED_AT.type)
    return (loaded_at, attempt.run_id, grammar.moment(at, kind), grammar.moment(expired, kind))


def _after(committed_at: str) -> datetime:
    """Return the first moment after a commit: a clock that goes back must not turn history."""
    return datetime.fromisoformat(committed_at) + _A_MOMENT


def _highest(session: TargetSession, step: Commit, dialect: str) -> str | None:
    """Return how far the incremental column has come."""
    if not step.layout.cursor:
        return None
    grammar = Grammar(dialect)
    cursor = grammar.sorting(grammar.name(CURSOR))
    staging = grammar.name(step.program.staging)
    [[highest]] = session.fetch(f"SELECT MAX({cursor}) FROM {staging}")  # noqa: S608  # quoted
    return None if highest is None else str(highest)
