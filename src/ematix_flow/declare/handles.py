"""What a decorated function becomes: still the function, and a pipeline that can be run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

from ematix_flow.declare.runner import runner_of

if TYPE_CHECKING:
    from ematix_flow.api.explanation import Explanation
    from ematix_flow.declare.project import Project
    from ematix_flow.engine.runs.backfill import BackfillResult
    from ematix_flow.engine.runs.preview import Preview
    from ematix_flow.plan.plan import Plan
    from ematix_flow.record.run import RunResult
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

    def explain(self) -> Explanation:
        """Return the plan together with the engine and its settings."""
        return runner_of(self._project).explain(self.name)

    def sync(self, *, new: bool = False) -> RunResult:
        """Run it once and return what it did.

        :param new: Load again even if an interrupted run had already landed.
        """
        return runner_of(self._project).run(self.name, new=new)

    def preview(self, rows: int = 20) -> Preview:
        """Return the first rows as they would reach the target, and what is wrong with them.

        Writes nothing.
        """
        return runner_of(self._project).preview(self.name, rows)

    def dry_run(self) -> RunResult:
        """Return what a run would change, counted by doing it and undoing it."""
        return runner_of(self._project).dry_run(self.name)

    def backfill(
        self,
        start: object,
        end: object,
        *,
        chunk: object = None,
        keep_going: bool = False,
        new: bool = False,
    ) -> BackfillResult:
        """Load the rows from *start* to before *end* of the incremental column again.

        The same call again goes on where it stopped. The first failure is raised.

        :param chunk: How much one run loads: a duration for times, a number for numbers.
        :param keep_going: Load the chunks after one that failed, before raising.
        :param new: Begin again even if the same backfill never ended.
        """
        done = runner_of(self._project).backfill(
            self.name, start, end, chunk=chunk, keep_going=keep_going, new=new
        )
        if done.error is not None:
            raise done.error
        return done
