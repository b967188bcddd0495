"""A project, resolved once: what each pipeline reads, and what it comes after."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from ematix_flow.declare.project import Project
from ematix_flow.errors import FlowError, located
from ematix_flow.resolve.dependencies import Dependency, dependencies
from ematix_flow.resolve.graph import check_transforms, check_workflows, run_order
from ematix_flow.resolve.query import Input, Place, QueryResolver
from ematix_flow.spec.pipeline import Pipeline


class Resolution:
    """Answers are remembered: a pipeline's function is called once, however many ask."""

    def __init__(
        self,
        project: Project,
        *,
        place_of: Callable[[str], Place],
        dialect_of: Callable[[str], str],
        connection_of: Callable[[str], object],
    ) -> None:
        self._project = project
        self._resolver = QueryResolver(project=project, place_of=place_of)
        self._dialect_of = dialect_of
        self._connection_of = connection_of
        self._found: dict[str, Input | FlowError] = {}

    def input_of(self, pipeline: Pipeline) -> Input:
        """Return what a pipeline reads, or raise what is wrong with it, each time."""
        if pipeline.name not in self._found:
            try:
                with located(pipeline.location):
                    self._found[pipeline.name] = self._resolver.resolve(pipeline)
            except FlowError as error:
                self._found[pipeline.name] = error
        found = self._found[pipeline.name]
        if isinstance(found, FlowError):
            raise found
        return found

    @cached_property
    def after(self) -> Mapping[str, tuple[Dependency, ...]]:
        """What each pipeline comes after; every name in it is known."""
        return dependencies(self._project, self.input_of, self._dialect_of)

    def order(self, names: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Return *names* (none: all) so that each comes after what it depends on."""
        check_workflows(self._project)
        check_transforms(self._project)
        self._check_connections()
        return run_order(self._project, self.after, names)

    def _check_connections(self) -> None:
        """Refuse transforms and workflows that name a connection nobody declares."""
        for transform in self._project.transforms.values():
            with located(transform.location):
                self._connection_of(transform.target_connection)
        for workflow in self._project.workflows.values():
            if workflow.on_message is not None:
                with located(workflow.location):
                    self._connection_of(workflow.on_message.partition("/")[0])
