"""The fence: of two runs of one pipeline, only the later one can commit.

Its token lives on the target, because only the target sees every runner. A run raises
it before Spark starts; the commit reads it again inside its transaction.

On a server the token comes with a lease: while one run renews it, no other is given the
token. A run that stopped renewing can be taken over, and then cannot commit any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ematix_flow.errors import FenceLost, PipelineBusy
from ematix_flow.ports import TargetSession
from ematix_flow.sqltext.bookkeeping import Bookkeeping


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Who wants the lease.

    :param holder: The project and machine it runs on: what is left of an earlier run of theirs
        is dead, because they hold their own lease now.
    :param ttl: How long the lease is good for without being renewed.
    """

    pipeline: str
    holder: str
    run_id: str
    ttl: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lease:
    """The lease as the database has it; times are milliseconds of its clock."""

    token: int
    holder: str | None
    run_id: str | None
    since: int | None
    until: int | None
    now: int

    def is_free_for(self, claim: Claim) -> bool:
        over = self.until is None or self.until <= self.now
        return over or self.holder == claim.holder


def take_fence(session: TargetSession, sql: Bookkeeping, pipeline: str) -> int:
    """Raise the pipeline's token and return it."""
    with session.transaction():
        # Raised before it is read: the row is then locked, and no other is given this token.
        if session.execute(sql.raise_fence, (pipeline,)) == 0:
            session.execute(sql.insert_fence, (pipeline, 0))
            session.execute(sql.raise_fence, (pipeline,))
        token = _read(session, sql, pipeline)
    assert token is not None
    return token


def take_lease(
    session: TargetSession, sql: Bookkeeping, claim: Claim, ours: Collection[int] = ()
) -> int:
    """Raise the token for as long as the lease lasts, or say who has it.

    :param ours: The tokens that this run has already: two connections may lead to one database.
    """
    # A look first: whoever commits right now has the row locked, and nobody should wait for that.
    found = _lease(session, sql, claim.pipeline)
    if found is None:
        session.execute(sql.insert_fence, (claim.pipeline, 0))
        found = _required(session, sql, claim.pipeline)
    if found.run_id == claim.run_id and found.token in ours:
        return found.token
    if not found.is_free_for(claim):
        raise _busy(found, claim)
    with session.transaction():
        milliseconds = claim.ttl // timedelta(milliseconds=1)
        wanted = (claim.holder, claim.run_id, milliseconds, claim.pipeline, claim.holder)
        taken = session.execute(sql.take_lease, wanted) == 1
        found = _required(session, sql, claim.pipeline)
    if not taken:
        raise _busy(found, claim)
    return found.token


def renew_lease(session: TargetSession, sql: Bookkeeping, claim: Claim, token: int) -> bool:
    """Make the lease last again; tell whether it is still ours."""
    milliseconds = claim.ttl // timedelta(milliseconds=1)
    return session.execute(sql.renew_lease, (milliseconds, claim.pipeline, token)) == 1


def release_lease(session: TargetSession, sql: Bookkeeping, claim: Claim, token: int) -> None:
    """Let others run, unless one of them has taken over already."""
    session.execute(sql.release_lease, (claim.pipeline, token))


def hold_fence(session: TargetSession, sql: Bookkeeping, pipeline: str, token: int) -> None:
    """Refuse to commit when another run has raised the token since; else keep it from raising.

    The row stays locked (or conflicts) until the transaction ends.
    """
    if session.execute(sql.hold_fence, (pipeline, token)) != 1:
        raise fence_lost(pipeline, _read(session, sql, pipeline), token)


def fence_lost(pipeline: str, found: int | None, token: int) -> FenceLost:
    """Build the error of a runner that was taken over."""
    known = "" if found is None else f"its fence is {found}, "
    return FenceLost(
        f"another run of {pipeline!r} took over ({known}ours was {token}); nothing was written",
        hint="`flow runs` shows the other run",
    )


def lost_after_landing(pipeline: str, targets: Iterable[str]) -> FenceLost:
    """Build the error of a runner that was taken over when rows of its own had landed."""
    return FenceLost(
        f"another run of {pipeline!r} took over; the rows of this one are in {', '.join(targets)}, "
        "but what was to come after them was not done",
        hint="`flow runs` shows the other run",
    )


def _busy(lease: _Lease, claim: Claim) -> PipelineBusy:
    until = _shown(lease.until)
    return PipelineBusy(
        f"pipeline {claim.pipeline!r} is already running (by {lease.holder}, run {lease.run_id}, "
        f"since {_shown(lease.since)}; its lease lasts until {until} unless it is renewed)",
        hint=f"wait for that run to end; if it died, run again after {until}",
    )


def _shown(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "an unknown time"
    shown = datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")
    return shown.replace("+00:00", "Z")


def _required(session: TargetSession, sql: Bookkeeping, pipeline: str) -> _Lease:
    lease = _lease(session, sql, pipeline)
    assert lease is not None
    return lease


def _lease(session: TargetSession, sql: Bookkeeping, pipeline: str) -> _Lease | None:
    rows = session.fetch(sql.read_lease, (pipeline,))
    if not rows:
        return None
    token, holder, run_id, since, until, now = rows[0]
    return _Lease(
        token=int(str(token)),
        holder=None if holder is None else str(holder),
        run_id=None if run_id is None else str(run_id),
        since=None if since is None else int(str(since)),
        until=None if until is None else int(str(until)),
        now=int(str(now)),
    )


def _read(session: TargetSession, sql: Bookkeeping, pipeline: str) -> int | None:
    rows = session.fetch(sql.read_fence, (pipeline,))
    return int(str(rows[0][0])) if rows else None
