"""The measurements: kept in a file as they come, and their medians."""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.loads.contestants import Load


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One load, once."""

    contestant: str
    target: str
    mode: str
    seconds: float
    peak_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A contestant's repeats of one load, taken together."""

    repeats: int
    seconds: float
    fastest: float
    slowest: float
    peak_bytes: int


@dataclass(slots=True, kw_only=True)
class Results:
    """All that is known: where it was measured, of how many rows, and what came out.

    :param failures: What went wrong, by `contestant:target:mode`; such a load has no score.
    :param memory: The run through a small driver, when it was made.
    """

    machine: str
    rows: int
    server: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    measurements: list[Measurement] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    memory: dict[str, Any] | None = None

    def add(self, measurement: Measurement) -> None:
        """Take in one more repeat."""
        self.measurements.append(measurement)
        place = f"{measurement.contestant}:{measurement.target}:{measurement.mode}"
        self.failures.pop(place, None)

    def fail(self, contestant: str, load: Load, why: str) -> None:
        """Take in that a load did not end well: what it had before does not count either."""
        self.failures[f"{contestant}:{load.target}:{load.mode}"] = why
        self.measurements = [
            each for each in self.measurements if not _is_of(each, contestant, load)
        ]

    def count(self, contestant: str, load: Load) -> int:
        """Return how often a load was measured."""
        return sum(_is_of(each, contestant, load) for each in self.measurements)

    def score(self, contestant: str, load: Load) -> Score | None:
        """Return the median of a load's repeats and its extremes, or None without any."""
        found = [each for each in self.measurements if _is_of(each, contestant, load)]
        if not found:
            return None
        seconds = [each.seconds for each in found]
        return Score(
            repeats=len(found),
            seconds=statistics.median(seconds),
            fastest=min(seconds),
            slowest=max(seconds),
            peak_bytes=max(each.peak_bytes for each in found),
        )

    def save(self, file: Path) -> None:
        """Write all of it, whole or not at all."""
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".draft")
        draft.write_text(json.dumps(asdict(self), indent=1) + "\n")
        draft.replace(file)


def load_results(file: Path) -> Results:
    """Read what `Results.save` wrote."""
    data = json.loads(file.read_text())
    data["measurements"] = [Measurement(**each) for each in data["measurements"]]
    return Results(**data)


def _is_of(measurement: Measurement, contestant: str, load: Load) -> bool:
    return (measurement.contestant, measurement.target, measurement.mode) == (contestant, *load)
