"""Progress of a run: a moving line on a terminal, plain lines in a log."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, assert_never

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

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

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
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield TerminalLine(progress)


class TerminalLine:
    """One line of a terminal that moves with the step at work; notes stay above it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._lock = threading.Lock()
        self._step: TaskID | None = None

    def __call__(self, event: Event) -> None:
        """Show *event*, or that what it ended is over."""
        with self._lock:
            match event:
                case StepStarted(pipeline=pipeline, step=step):
                    self._clear()
                    title = f"{pipeline}: {step}"
                    self._step = self._progress.add_task(title, total=None, note="")
                case TasksProgressed(done=done, total=total):
                    self._move(event, done, total)
                case BytesCarried():
                    self._move(event)
                case Noticed(text=text):
                    self._progress.console.print(f"note: {redact(text)}", markup=False)
                case RunEnded():
                    self._clear()
                case RunStarted() | StepEnded():
                    pass
                case _:
                    assert_never(event)

    def _move(self, event: _Progress, done: int | None = None, total: int | None = None) -> None:
        if self._step is not None:
            self._progress.update(self._step, completed=done, total=total, note=_amount(event))

    def _clear(self) -> None:
        if self._step is not None:
            self._progress.remove_task(self._step)
            self._step = None


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
