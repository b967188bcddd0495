"""The steps of a plan, sorted by what they are for: all targets, or one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ematix_flow.plan.steps import (
    Arrange,
    Carry,
    Commit,
    Normalize,
    Prepare,
    SelectInTarget,
    Stage,
    Step,
    Validate,
)
from ematix_flow.spec.contract import Contract

_OF_A_TARGET = (Arrange, Normalize, Validate, Stage, Carry, SelectInTarget, Commit)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSteps:
    """What happens for one target, once the rows are there."""

    prepare: Prepare
    steps: tuple[Step, ...]
    commit: Commit

    @property
    def contract(self) -> Contract:
        """What its rows are judged by, on Spark or in the database itself."""
        judging = (step for step in self.steps if isinstance(step, Validate | SelectInTarget))
        return next(judging).contract


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """The steps of a run.

    :param shared: What makes the rows, for all targets.
    :param after: What follows when all are committed.
    """

    shared: tuple[Step, ...]
    targets: tuple[TargetSteps, ...]
    after: tuple[Step, ...]


def by_target(steps: Sequence[Step]) -> Grouped:
    """Sort the steps; within a group they keep their order."""
    prepares = [step for step in steps if isinstance(step, Prepare)]
    shared: list[Step] = []
    own: list[Step] = []
    after: list[Step] = []
    targets: list[TargetSteps] = []
    for step in steps:
        if isinstance(step, _OF_A_TARGET):
            own.append(step)
        elif not isinstance(step, Prepare):
            (after if targets else shared).append(step)
        if isinstance(step, Commit):
            prepare = prepares[len(targets)]
            targets.append(TargetSteps(prepare=prepare, steps=tuple(own), commit=step))
            own = []
    return Grouped(shared=tuple(shared), targets=tuple(targets), after=tuple(after))
