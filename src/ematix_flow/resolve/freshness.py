"""Whether what a pipeline reads is new enough to be worth reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from ematix_flow.spec.duration import duration_text
from ematix_flow.spec.pipeline import Timing


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamState:
    """How old an upstream's last load may be, and when it was."""

    upstream: str
    limit: timedelta
    last_commit: datetime | None
    is_fresh: bool

    def __str__(self) -> str:
        when = self.last_commit.isoformat() if self.last_commit else "never"
        verdict = "fresh" if self.is_fresh else "too old"
        return f"{self.upstream} last loaded {when}: {verdict} (limit {duration_text(self.limit)})"


def upstream_states(
    timing: Timing,
    upstreams: tuple[str, ...],
    last_commits: Mapping[str, datetime | None],
    now: datetime,
) -> tuple[UpstreamState, ...]:
    """Judge every upstream that has a limit."""
    limits = dict(timing.upstream_freshness)
    found = []
    for upstream in upstreams:
        limit = limits.get(upstream, limits.get("*"))
        if limit is None:
            continue
        last = last_commits.get(upstream)
        found.append(
            UpstreamState(
                upstream=upstream,
                limit=limit,
                last_commit=last,
                is_fresh=last is not None and now - last <= limit,
            )
        )
    return tuple(found)
