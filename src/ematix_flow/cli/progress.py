"""Progress of a run: a moving line on a terminal, plain lines in a log."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol, assert_never

from ematix_flow._base.clock import SystemClock
from ematix_flow._base.redact import redact
from ematix_flow._base.sizes import shown_bytes
from ematix_flow.cli.output import Output
from ematix_flow.observe.events import (
    BytesCarried,
    Event,
    Noticed,
    Observer,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    TasksProgressed,
    ignore,
)

# A log is read later: progress is told when it moved, and no more often than this.
_SECONDS_BETWEEN_LINES = 10.0

_Progress = TasksProgressed | BytesCarried


class Stopwatch(Protocol):
    """What of a clock this needs."""

    def monotonic(self) -> float:
        """Return seconds that only ever grow."""
        ...


@contextmanager
def run_observer(output: Output) -> Iterator[Observer]:
    """Return the observer that suits where stderr goes; JSON callers get silence."""
    if output.is_json:
        yield ignore
    elif sys.stderr.isatty():
        with _terminal() as observer:
            yield observer
    else:
        yield LogLines(SystemClock())


@contextmanager
def _terminal() -> Iterator[Observer]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    lock = threading.Lock()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        current: TaskID | None = None

        def observe(event: Event) -> None:
            nonlocal current
            with lock:
                match event:
                    case StepStarted(pipeline=pipeline, step=step):
                        if current is not None:
                            progress.remove_task(current)
                        current = progress.add_task(f"{pipeline}: {step}", total=None, note="")
                    case TasksProgressed(done=done, total=total) if current is not None:
                        note = _amount(event)
                        progress.update(current, completed=done, total=total, note=note)
                    case BytesCarried() if current is not None:
                        progress.update(current, note=_amount(event))
                    case StepEnded() | RunStarted():
                        pass
                    case RunEnded() if current is not None:
                        progress.remove_task(current)
                        current = None
                    case Noticed(text=text):
                        progress.console.print(f"note: {redact(text)}", markup=False)
                    case _:
                        pass

        yield observe


class LogLines:
    """Each event as a line; of the progress of a step a line now and then, and the last."""

    def __init__(self, clock: Stopwatch) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._written_at = clock.monotonic()
        self._written: str | None = None
        self._latest: _Progress | None = None

    def __call__(self, event: Event) -> None:
        """Write *event*, unless it is progress that can wait."""
        with self._lock:
            if isinstance(event, _Progress):
                self._progressed(event)
                return
            if self._latest is not None:
                # Whatever comes next, nothing of this step remains to be waited for.
                self._write_progress(_at_its_end(self._latest))
            if isinstance(event, StepStarted):
                self._written, self._written_at = None, self._clock.monotonic()
            _write(_line(event))

    def _progressed(self, event: _Progress) -> None:
        if _amount(event) == self._written:
            return
        self._latest = event
        if self._clock.monotonic() - self._written_at >= _SECONDS_BETWEEN_LINES:
            self._write_progress(event)

    def _write_progress(self, event: _Progress) -> None:
        _write(_line(event))
        self._latest = None
        self._written, self._written_at = _amount(event), self._clock.monotonic()


def _write(line: str) -> None:
    sys.stderr.write(redact(line) + "\n")


def _line(event: Event) -> str:
    match event:
        case RunStarted(pipeline=pipeline, run_id=run_id):
            return f"{pipeline}: run {run_id} started"
        case StepStarted(pipeline=pipeline, step=step, description=description):
            return f"{pipeline}: {step}: {description}"
        case TasksProgressed(pipeline=pipeline, step=step, eta_seconds=eta):
            remaining = f", about {eta:.0f} s to go" if eta is not None else ""
            return f"{pipeline}: {step}: {_amount(event)}{remaining}"
        case BytesCarried(pipeline=pipeline, step=step):
            return f"{pipeline}: {step}: {_amount(event)}"
        case StepEnded(pipeline=pipeline, step=step, seconds=seconds, rows=rows):
            counted = f", {rows:,} rows" if rows is not None else ""
            return f"{pipeline}: {step} took {seconds:.2f} s{counted}"
        case RunEnded(pipeline=pipeline, status=status, seconds=seconds):
            return f"{pipeline}: {status} after {seconds:.1f} s"
        case Noticed(pipeline=pipeline, text=text):
            return f"{pipeline}: note: {text}"
        case _:
            assert_never(event)


def _amount(event: _Progress) -> str:
    match event:
        case BytesCarried(bytes=count):
            return f"{shown_bytes(count)} carried"
        case TasksProgressed(done=done, total=total, stages=stages):
            many = {0: "", 1: " in 1 stage"}.get(stages, f" in {stages} stages")
            return f"{done} of {total} tasks{many}"


def _at_its_end(event: _Progress) -> _Progress:
    return replace(event, eta_seconds=None) if isinstance(event, TasksProgressed) else event
