"""A plan, and how it would be run; or why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from ematix_flow.engine.choice import EngineChoice
from ematix_flow.engine.spark.sizing import Sizing
from ematix_flow.errors import FlowError
from ematix_flow.plan.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A plan and how it would be run."""

    plan: Plan
    engine: EngineChoice
    sizing: Sizing


@dataclass(frozen=True, slots=True, kw_only=True)
class Unplannable:
    """A pipeline that cannot run as it is, and why."""

    pipeline: str
    error: FlowError
