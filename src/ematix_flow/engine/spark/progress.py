"""How far Spark is, while a run waits for it: one port over three engines.

Classic Spark is asked now and then through its status tracker; Connect tells on
its own. An engine that can do neither gives no progress, and nothing breaks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class StageProgress:
    """Tasks of the stages seen so far."""

    done_tasks: int
    total_tasks: int
    stages: int = 0


Report = Callable[[StageProgress], None]


@contextmanager
def watch(session: Any, callback: Report) -> Iterator[bool]:
    """Call *callback* as Spark's work in *session* moves; give whether it can.

    What *callback* raises is dropped: showing progress must not fail a run.
    """
    if hasattr(session, "_jsparkSession"):
        with _polling(session.sparkContext, callback):
            yield True
    elif hasattr(session, "registerProgressHandler"):
        with _told(session, callback):
            yield True
    else:
        yield False


@contextmanager
def _polling(context: Any, callback: Report) -> Iterator[None]:
    stop = threading.Event()
    seen: dict[int, tuple[int, int]] = {}

    def poll() -> None:
        tracker = context.statusTracker()
        last: StageProgress | None = None
        while not stop.wait(_POLL_SECONDS):
            active = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            # What is no longer active has ended: all of its tasks are done.
            seen.update({stage: (total, total) for stage, (_, total) in seen.items()})
            for stage in filter(None, active):
                seen[stage.stageId] = (stage.numCompletedTasks, stage.numTasks)
            told = _summed(seen.values())
            if seen and told != last:
                last = told
                callback(told)

    def poll_quietly() -> None:
        with suppress(Exception):  # the JVM went away: there is no progress to show
            poll()

    thread = threading.Thread(target=poll_quietly, name="spark-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(timeout=5)


@contextmanager
def _told(session: Any, callback: Report) -> Iterator[None]:
    seen: dict[tuple[str, int], tuple[int, int]] = {}

    def handle(stages: Any, inflight_tasks: int, operation_id: str, done: bool) -> None:  # noqa: ARG001, FBT001  # pyspark's signature
        with suppress(Exception):
            for stage in stages or ():
                key = (operation_id or "", stage.stage_id)
                seen[key] = (stage.num_completed_tasks, stage.num_tasks)
            if seen:
                callback(_summed(seen.values()))

    session.registerProgressHandler(handle)
    try:
        yield
    finally:
        with suppress(Exception):
            session.removeProgressHandler(handle)


def _summed(stages: Collection[tuple[int, int]]) -> StageProgress:
    return StageProgress(
        done_tasks=sum(done for done, _ in stages),
        total_tasks=sum(total for _, total in stages),
        stages=len(stages),
    )
