"""An engine that is up, and what a run's record says about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EngineMode = Literal["embedded", "warm", "remote", "borrowed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineReport:
    """Which engine a run was on, for its record and for `flow doctor`."""

    engine: str
    mode: EngineMode
    address: str
    spark_version: str
    java: str | None
    why: str
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the report as records store it."""
        return {
            "engine": self.engine,
            "mode": self.mode,
            "address": self.address,
            "spark_version": self.spark_version,
            "java": self.java,
            "why": self.why,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEngine:
    """An engine that is up. `session` belongs to one run alone."""

    session: SparkSession
    report: EngineReport
    _another: Callable[[], SparkSession]

    def new_session(self) -> SparkSession:
        """Return one more isolated session: own temp views, own conf."""
        return self._another()
