"""Counts of rows, told in a line."""

from __future__ import annotations

from ematix_flow.record.run import RunResult
from ematix_flow.spec.counts import RowCounts

_WORDS = {"deleted": "deleted", "quarantined": "set aside"}


def counted(rows: RowCounts) -> str:
    """Return what was read and inserted, and every other count that is not zero.

    >>> counted(RowCounts(read=3, updated=2))
    '3 rows read, 0 inserted, 2 updated'
    """
    counts = rows.to_json()
    read, inserted = counts.pop("read"), counts.pop("inserted")
    others = (f", {count:,} {_WORDS.get(name, name)}" for name, count in counts.items() if count)
    return f"{read:,} rows read, {inserted:,} inserted{''.join(others)}"


def target_lines(run: RunResult) -> list[str]:
    """Return a line for each target, where there are several."""
    if len(run.targets) <= 1:
        return []
    return [
        f"  {each.target} ({each.connection}): {each.status.value}, "
        + (counted(each.rows) if each.error is None else str(each.error["what"]))
        for each in run.targets
    ]
