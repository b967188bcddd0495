"""What a decorated function becomes: still the function, and a pipeline that can be run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from ematix_flow.declare.runner import runner_of

if TYPE_CHECKING:
    from ematix_flow.declare.project import Project
    from ematix_flow.plan.plan import Plan
    from ematix_flow.record.run import RunRecord
    from ematix_flow.spec.pipeline import Pipeline

P = ParamSpec("P")
R = TypeVar("R")


class DeclaredPipeline(Generic[P, R]):
    """A pipeline in the user's module. Calling it calls the function, for tests of it."""

    def __init__(self, spec: Pipeline, function: Callable[P, R], project: Project) -> None:
        # First, because it copies the attributes of what it wraps: another pipeline has our own.
        functools.update_wrapper(self, function)
        self.spec = spec
        self._function = function
        self._project = project

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself."""
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<pipeline {self.name} at {self.spec.location}>"

    @property
    def name(self) -> str:
        """The pipeline's name."""
        return self.spec.name

    def plan(self) -> Plan:
        """Return what a run would do. Writes nothing, starts no Spark."""
        return runner_of(self._project).plan(self.name)

    def explain(self) -> Any:
        """Return the plan together with the engine and its settings."""
        return runner_of(self._project).explain(self.name)

    def sync(self, *, new: bool = False) -> RunRecord:
        """Run it once and return the record of the run.

        :param new: Load again even if an interrupted run had already landed.
        """
        return runner_of(self._project).run(self.name, new=new)
