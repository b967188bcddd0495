"""The memory of a tree of processes, watched from outside."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

PROC = Path("/proc")
INTERVAL = 0.2


class PeakMemory:
    """The largest sum of proportional memory (PSS) of the trees below some processes.

    Pages that processes share count once. A peak shorter than the interval is missed.
    """

    def __init__(self, roots: Iterable[int], interval: float = INTERVAL) -> None:
        self._roots = tuple(roots)
        self._interval = interval
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.peak = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            self.peak = max(self.peak, sum(map(proportional, tree(self._roots))))
            if self._done.wait(self._interval):
                return


def tree(roots: Iterable[int]) -> set[int]:
    """Return the processes below *roots*, themselves included, that are there now."""
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (parent := _parent(entry)) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        process = waiting.pop()
        if process not in found:
            found.add(process)
            waiting += children.get(process, ())
    return found


def proportional(process: int) -> int:
    """Return the bytes of a process, shared pages divided among those who share; 0 if gone."""
    try:
        lines = (PROC / str(process) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    sizes = (line.split()[1] for line in lines if line.startswith("Pss:"))
    return sum(int(size) for size in sizes) * 1024


def _parent(entry: Path) -> int | None:
    try:
        # After the name, which is in parentheses and may hold anything: state, parent.
        after = (entry / "stat").read_text().rpartition(")")[2]
    except OSError:
        return None
    return int(after.split()[1])
