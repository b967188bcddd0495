"""The default run log: one JSON line per event, appended, never rewritten.

A line is written with a single `write` to a file opened for appending, so two
processes do not mix theirs; a crash can at worst leave a torn last line, which the
reader passes over, like every line that it cannot make out.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ematix_flow._base.files import PRIVATE_FILE, private_directory
from ematix_flow._base.redact import redact_data
from ematix_flow.errors import ConfigError
from ematix_flow.record.run import (
    Purpose,
    RunResult,
    RunStatus,
    StepRecord,
    TargetOutcome,
)
from ematix_flow.spec.counts import RowCounts
from ematix_flow.spec.window import Ends

VERSION = 1
_BEGINNING = ("started_at", "attempt", "purpose", "replay_of", "path", "window", "engine")
_OUTCOME = ("status", "ended_at", "adopted", "watermark", "rows", "targets", "engine", "error")
_FREE_TEXT = ("error", "engine", "targets")


@dataclass(frozen=True, slots=True)
class JsonlRunLog:
    """Runs in a file."""

    file: Path

    def started(self, run: RunResult) -> None:
        """Remember that a run (or another attempt at it) began."""
        self._append({"event": "started", **_head(run)})

    def step(self, run: RunResult, step: StepRecord) -> None:
        """Remember that a step ended."""
        self._append({"event": "step", "run_id": run.run_id, **step.to_json()})

    def ended(self, run: RunResult) -> None:
        """Remember how a run ended."""
        outcome = {name: run.to_json()[name] for name in _OUTCOME}
        self._append({"event": "ended", "run_id": run.run_id, **outcome})

    def runs(self, pipeline: str | None = None, limit: int | None = None) -> list[RunResult]:
        """Return runs, newest first."""
        found: dict[str, RunResult] = {}
        for event in self._events():
            # A run whose end cannot be made out is open, and the target's ledger settles it.
            with suppress(KeyError, TypeError, ValueError, AttributeError):
                _apply(event, found)
        chosen = [run for run in found.values() if pipeline in (None, run.pipeline)]
        # As they were written down: clocks go back, and ids are made of them.
        return chosen[::-1][:limit]

    def run(self, run_id: str) -> RunResult | None:
        """Return one run."""
        return next((run for run in self.runs() if run.run_id == run_id), None)

    def open_runs(self, pipeline: str) -> list[RunResult]:
        """Return the runs of *pipeline* to go on with, newest first.

        They never ended; or the last one landed only in part.
        """
        known = self.runs(pipeline)
        return [
            run
            for number, run in enumerate(known)
            if run.status is RunStatus.RUNNING or (number == 0 and run.landed_in_part)
        ]

    def _append(self, event: dict[str, object]) -> None:
        # Only what others wrote is redacted: a masked run id or name could not be found again.
        shown = {
            key: redact_data(value) if key in _FREE_TEXT else value for key, value in event.items()
        }
        line = json.dumps({"version": VERSION, **event, **shown}) + "\n"
        private_directory(self.file.parent)
        descriptor = os.open(self.file, os.O_RDWR | os.O_APPEND | os.O_CREAT, PRIVATE_FILE)
        try:
            # A torn line of a crashed writer must not swallow ours.
            end = os.lseek(descriptor, 0, os.SEEK_END)
            torn = end > 0 and os.pread(descriptor, 1, end - 1) != b"\n"
            content = (b"\n" if torn else b"") + line.encode()
            if os.write(descriptor, content) != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _events(self) -> Iterator[dict[str, Any]]:
        try:
            with self.file.open("rb") as lines:
                yield from _made_out(lines)
        except FileNotFoundError:
            return
        except OSError as error:
            raise ConfigError(
                f"the run log {str(self.file)!r} cannot be read: {error.strerror or error}",
                hint="make it a file that you can read, or move it away",
            ) from error


def _made_out(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and event.get("version") == VERSION:
            yield event


def _head(run: RunResult) -> dict[str, object]:
    return {name: run.to_json()[name] for name in ("run_id", "pipeline", *_BEGINNING)}


def _apply(event: dict[str, Any], found: dict[str, RunResult]) -> None:
    """Fold one event into the runs seen so far. Older versions wrote fewer facts."""
    run_id = event.get("run_id")
    if not isinstance(run_id, str):
        return
    known = found.get(run_id)
    match event.get("event"):
        case "started":
            found[run_id] = RunResult(
                run_id=run_id,
                pipeline=event["pipeline"],
                status=RunStatus.RUNNING,
                started_at=known.started_at if known else event["started_at"],
                attempt=event["attempt"],
                purpose=Purpose(event.get("purpose", Purpose.RUN)),
                replay_of=event.get("replay_of"),
                path=event.get("path"),
                window=_window(event.get("window")),
                engine=event["engine"],
            )
        case "step" if known:
            record = StepRecord(step=event["step"], seconds=event["seconds"], rows=event["rows"])
            found[run_id] = replace(known, steps=(*known.steps, record))
        case "ended" if known:
            found[run_id] = replace(
                known,
                status=RunStatus(event["status"]),
                ended_at=event["ended_at"],
                adopted=event["adopted"],
                watermark=event.get("watermark"),
                rows=RowCounts(**event["rows"]),
                targets=tuple(_outcome(each) for each in event.get("targets", ())),
                engine=event["engine"],
                error=event["error"],
            )
        case _:
            return


def _outcome(facts: dict[str, Any]) -> TargetOutcome:
    return TargetOutcome(
        connection=facts["connection"],
        target=facts["target"],
        status=RunStatus(facts["status"]),
        rows=RowCounts(**facts["rows"]),
        watermark=facts["watermark"],
        error=facts["error"],
    )


def _window(facts: list[str | None] | None) -> Ends | None:
    return None if facts is None else (facts[0], facts[1])
