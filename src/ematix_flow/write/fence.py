"""The fence: of two runs of one pipeline, only the later one can commit.

Its token lives on the target, because only the target sees every runner. A run raises
it before Spark starts; the commit reads it again inside its transaction.
"""

from __future__ import annotations

from ematix_flow.errors import FenceLost
from ematix_flow.ports import TargetSession
from ematix_flow.sqltext.bookkeeping import Bookkeeping


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


def hold_fence(session: TargetSession, sql: Bookkeeping, pipeline: str, token: int) -> None:
    """Refuse to commit when another run has raised the token since; else keep it from raising.

    An UPDATE, not a SELECT: it locks the row (or conflicts) until the transaction ends.
    """
    if session.execute(sql.hold_fence, (pipeline, token)) != 1:
        raise FenceLost(
            f"another run of {pipeline!r} took over (its fence is "
            f"{_read(session, sql, pipeline)}, ours was {token}); nothing was written",
            hint="`flow runs` shows the other run",
        )


def _read(session: TargetSession, sql: Bookkeeping, pipeline: str) -> int | None:
    rows = session.fetch(sql.read_fence, (pipeline,))
    return int(str(rows[0][0])) if rows else None
