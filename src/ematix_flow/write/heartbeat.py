"""The heartbeat: a thread that keeps a run's leases while the run works."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from ematix_flow.errors import FenceLost

# Two renewals may fail before the lease is over.
_BEATS_PER_LEASE = 3


@dataclass(slots=True, kw_only=True)
class Heartbeat:
    """Renews until it is stopped, or until somebody else has taken over.

    :param renew: Renews all leases; FenceLost when one is not ours any more.
    :param notice: Told of what went wrong, though the run goes on.
    :param pause: Waits that many seconds, less when told to stop, and says whether it was.
    """

    renew: Callable[[], None]
    ttl: timedelta
    notice: Callable[[str], None]
    pause: Callable[[float], bool] | None = None
    lost: FenceLost | None = None
    on_lost: Callable[[], None] = lambda: None
    _stop: threading.Event = field(default_factory=threading.Event, init=False)

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Beat for the block, in a thread of its own."""
        thread = threading.Thread(target=self.beat, name="flow-heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def beat(self) -> None:
        """Renew every third of the lease until stopped or lost."""
        pause = self.pause or self._stop.wait
        every = self.ttl.total_seconds() / _BEATS_PER_LEASE
        while not pause(every):
            try:
                self.renew()
            except FenceLost as lost:
                self.lost = lost
                self.on_lost()
                return
            except Exception as error:  # noqa: BLE001  # the network, the server: the next may work
                self.notice(f"the lease could not be renewed ({error}); trying again")

    def require(self) -> None:
        """Raise what the heartbeat learned: there is no use in going on without the lease."""
        if self.lost is not None:
            raise self.lost
