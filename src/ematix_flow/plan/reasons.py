"""Why a pipeline would run now."""

from __future__ import annotations

from datetime import datetime

from ematix_flow.ports import LedgerEntry
from ematix_flow.resolve.freshness import UpstreamState
from ematix_flow.spec.pipeline import Timing


def why_run(
    timing: Timing,
    ledger: LedgerEntry | None,
    upstreams: tuple[UpstreamState, ...],
    now: datetime,
) -> str:
    """Say it in a clause."""
    stale = [each.upstream for each in upstreams if not each.is_fresh]
    waits = f"; a schedule would wait for {', '.join(stale)}" if stale else ""
    if ledger is None:
        return f"it was never loaded{waits}"
    if timing.schedule is None:
        return f"no schedule: it runs when asked{waits}"
    slot = timing.schedule.last_slot(now)
    if slot is not None and committed_at(ledger) < slot:
        return f"its slot of {slot.isoformat()} has not been loaded{waits}"
    upcoming = timing.schedule.next_slot(now)
    return f"not due before {upcoming.isoformat() if upcoming else 'ever'}{waits}"


def committed_at(ledger: LedgerEntry) -> datetime:
    """Return when a ledger entry was committed."""
    return datetime.fromisoformat(ledger.committed_at)
