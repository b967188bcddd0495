"""What a run tells its observers, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run of a pipeline begins."""

    pipeline: str
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """A step begins."""

    pipeline: str
    step: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksProgressed:
    """Spark finished some more tasks of the current step."""

    pipeline: str
    step: str
    done: int
    total: int
    eta_seconds: float | None
    stages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BytesCarried:
    """More rows have arrived in the current step; how many will come, nobody knows."""

    pipeline: str
    step: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnded:
    """A step ended well."""

    pipeline: str
    step: str
    seconds: float
    rows: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """A run ended, well or badly."""

    pipeline: str
    run_id: str
    status: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """Something a person should know, though the run goes on."""

    pipeline: str
    text: str


Event = RunStarted | StepStarted | TasksProgressed | BytesCarried | StepEnded | RunEnded | Noticed


class Observer(Protocol):
    """Someone who watches a run. Called in order, on the run's own thread (progress: on any)."""

    def __call__(self, event: Event) -> None:
        """Take notice of *event*."""
        ...


def ignore(event: Event) -> None:
    """Observe nothing."""
    del event
