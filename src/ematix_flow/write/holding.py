"""What a run holds on its targets, from before Spark starts until it has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from ematix_flow.errors import FlowError
from ematix_flow.ports import Target
from ematix_flow.sqltext.bookkeeping import FENCE, bookkeeping
from ematix_flow.write.fence import (
    Claim,
    fence_lost,
    release_lease,
    renew_lease,
    take_fence,
    take_lease,
)
from ematix_flow.write.file_lock import file_lock
from ematix_flow.write.heartbeat import Heartbeat
from ematix_flow.write.own_tables import ensure_own_tables


@dataclass(slots=True, kw_only=True)
class Holding:
    """The leases of one run: locks beside files, renewed leases on servers, and their tokens.

    :param notice: Told of what went wrong, though the run goes on.
    :param on_lost: Called by another thread when somebody else has taken over.
    """

    claim: Claim
    target: Callable[[str], Target]
    notice: Callable[[str], None]
    pause: Callable[[float], bool] | None = None
    on_lost: Callable[[], None] = lambda: None
    _tokens: dict[Target, int] = field(default_factory=dict)
    _heartbeat: Heartbeat | None = None
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def lock(self, files: Iterable[Path], since: str) -> None:
        """Lock databases that are files, before anything opens them."""
        for file in sorted(set(files)):
            lock = file_lock(file, self.claim.pipeline, holder=self.claim.holder, since=since)
            self._stack.enter_context(lock)

    def take(self, connections: Iterable[str]) -> None:
        """Take the token of each target; where a server gives leases, keep it by renewing it."""
        for target in dict.fromkeys(self.target(name) for name in connections):
            self._take(target)
        if self._leased:
            self._heartbeat = Heartbeat(
                renew=self._renew,
                ttl=self.claim.ttl,
                notice=self.notice,
                on_lost=self._lost,
                pause=self.pause,
            )
            self._stack.enter_context(self._heartbeat.beating())

    def token(self, connection: str) -> int:
        """Return the token that a commit into *connection* has to show."""
        return self._tokens[self.target(connection)]

    def is_leased(self, connection: str) -> bool:
        """Tell whether another may have committed before the token was taken.

        A file is locked before anything looks at it; a server is looked at by others meanwhile.
        """
        return self.target(connection) in self._leased

    def require(self) -> None:
        """Refuse to go on when somebody else has taken over."""
        if self._heartbeat is not None:
            self._heartbeat.require()

    def _lost(self) -> None:
        self.on_lost()

    def _take(self, target: Target) -> None:
        sql = bookkeeping(target.dialect)
        with target.open() as session:
            ensure_own_tables(session, sql)
            if not sql.has_clock:
                self._tokens[target] = take_fence(session, sql, self.claim.pipeline)
                return
            ours = self._tokens.values()
            self._tokens[target] = take_lease(session, sql, self.claim, tuple(ours))
        self._stack.callback(self._release, target)

    @property
    def _leased(self) -> list[Target]:
        return [each for each in self._tokens if bookkeeping(each.dialect).has_clock]

    def _renew(self) -> None:
        """Over a connection of its own: the run's may be busy, or broken."""
        for target in self._leased:
            token = self._tokens[target]
            with target.open() as session:
                if not renew_lease(session, bookkeeping(target.dialect), self.claim, token):
                    raise fence_lost(self.claim.pipeline, None, token)

    def _release(self, target: Target) -> None:
        try:
            with target.open() as session:
                sql = bookkeeping(target.dialect)
                release_lease(session, sql, self.claim, self._tokens[target])
        except FlowError as error:
            seconds = self.claim.ttl.total_seconds()
            self.notice(f"the lease could not be released ({error.what}): it ends in {seconds:g} s")


def has_leases(target: Target) -> bool:
    """Tell whether a server has leases to take: whether there has ever been a run."""
    if not bookkeeping(target.dialect).has_clock:
        return False
    with target.open_read_only() as session:
        columns = session.columns(FENCE.name) or ()
    return {each.name for each in columns} >= {*FENCE.column_names}
