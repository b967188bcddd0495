"""Names for tables that are not there yet, so that a dry run has something to count against."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from ematix_flow.plan.plan import Plan
from ematix_flow.spec.pipeline import Pipeline, TargetSpec
from ematix_flow.spec.table import Table, TableName

_PREFIX = "_flow_dry_"
_HASH_LENGTH = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalPlan:
    """A plan, and what the tables are called that others stand in for."""

    plan: Plan
    names: Mapping[str, str] = field(default_factory=dict)

    def shown(self, text: str) -> str:
        """Return *text* with the names that a person knows."""
        for stand_in, name in self.names.items():
            text = text.replace(stand_in, name)
        return text


def plan_of_rehearsal(pipeline: Pipeline, planned: Callable[[Pipeline], Plan]) -> RehearsalPlan:
    """Plan a run in which other tables stand in for those that are not there yet."""
    plan = planned(pipeline)
    there = [target.exists for target in plan.targets]
    if all(there):
        return RehearsalPlan(plan=plan)
    beside = _with_stand_ins(pipeline, there)
    pairs = zip(beside.targets, plan.targets, strict=True)
    names = {str(one.name): other.target for one, other in pairs if not other.exists}
    return RehearsalPlan(plan=planned(beside), names=names)


def _with_stand_ins(pipeline: Pipeline, there: Sequence[bool]) -> Pipeline:
    """Return the pipeline with other names for the targets that are not *there*."""
    targets = tuple(
        target if exists else _stand_in(pipeline, target)
        for target, exists in zip(pipeline.targets, there, strict=True)
    )
    return replace(pipeline, targets=targets)


def _stand_in(pipeline: Pipeline, target: TargetSpec) -> TargetSpec:
    # Without a schema: that of the target may not be there either.
    owner = f"{pipeline.name}\0{target.connection}\0{target.name}"
    name = TableName(name=f"{_PREFIX}{sha256(owner.encode()).hexdigest()[:_HASH_LENGTH]}")
    match target.table:
        case Table() as table:
            return replace(target, table=replace(table, name=name))
        case _:
            return replace(target, table=name)
