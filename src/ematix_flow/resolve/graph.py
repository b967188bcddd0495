"""The order in which pipelines run."""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

from ematix_flow.declare.project import Project
from ematix_flow.errors import DeclarationError, UnknownName


def run_order(project: Project, names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return *names* (default: all) so that each comes after what it depends on.

    Pipelines that were not asked for are not added: running one alone runs only that one.
    """
    wanted = set(project.pipelines if names is None else names)
    for pipeline in project.pipelines.values():
        for upstream in pipeline.depends_on:
            if upstream not in project.pipelines:
                raise UnknownName.among(
                    f"pipeline in depends_on of {pipeline.name!r}:",
                    upstream,
                    project.pipelines,
                    where=pipeline.location,
                )
    # Sorted, so that the order is the same on every run.
    graph = {name: sorted(project.pipelines[name].depends_on) for name in sorted(project.pipelines)}
    try:
        order = tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise _cycle(project, list(reversed(error.args[1]))) from None
    return tuple(name for name in order if name in wanted)


def _cycle(project: Project, names: list[str]) -> DeclarationError:
    lines = [f"  {name} ({project.pipelines[name].location})" for name in names]
    return DeclarationError(
        "pipelines depend on each other in a circle: " + " -> ".join(names),
        where=project.pipelines[names[0]].location,
        details="\n".join(lines),
        hint="remove one of these depends_on",
    )
