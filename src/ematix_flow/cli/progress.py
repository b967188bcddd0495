"""Progress of a run: a moving line on a terminal, plain lines in a log."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ematix_flow._base.redact import redact
from ematix_flow.cli.output import Output
from ematix_flow.observe.events import (
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


@contextmanager
def run_observer(output: Output) -> Iterator[Observer]:
    """Return the observer that suits where stderr goes; JSON callers get silence."""
    if output.is_json:
        yield ignore
    elif sys.stderr.isatty():
        with _terminal() as observer:
            yield observer
    else:
        yield _log_lines


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
                        note = f"{done}/{total} tasks"
                        progress.update(current, completed=done, total=total, note=note)
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


def _log_lines(event: Event) -> None:
    match event:
        case RunStarted(pipeline=pipeline, run_id=run_id):
            line = f"{pipeline}: run {run_id} started"
        case StepStarted(pipeline=pipeline, step=step, description=description):
            line = f"{pipeline}: {step}: {description}"
        case TasksProgressed(pipeline=pipeline, step=step, done=done, total=total, eta_seconds=eta):
            remaining = f", about {eta:.0f} s to go" if eta is not None else ""
            line = f"{pipeline}: {step}: {done} of {total} tasks{remaining}"
        case StepEnded(pipeline=pipeline, step=step, seconds=seconds, rows=rows):
            counted = f", {rows:,} rows" if rows is not None else ""
            line = f"{pipeline}: {step} took {seconds:.2f} s{counted}"
        case RunEnded(pipeline=pipeline, status=status, seconds=seconds):
            line = f"{pipeline}: {status} after {seconds:.1f} s"
        case Noticed(pipeline=pipeline, text=text):
            line = f"{pipeline}: note: {text}"
    sys.stderr.write(redact(line) + "\n")
