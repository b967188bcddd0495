"""The order in which pipelines run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

from ematix_flow.declare.project import Project
from ematix_flow.errors import DeclarationError, UnknownName
from ematix_flow.resolve.dependencies import Dependency
from ematix_flow.spec.transform import Transform, TransformRef
from ematix_flow.spec.workflow import Workflow, names_in


def run_order(
    project: Project,
    after: Mapping[str, tuple[Dependency, ...]],
    names: Iterable[str] | None = None,
) -> tuple[str, ...]:
    """Return *names* (default: all) so that each comes after what it depends on.

    Pipelines that were not asked for are not added: running one alone runs only that one.
    """
    wanted = set(project.pipelines if names is None else names)
    # Sorted, so that the order is the same on every run.
    graph = {name: sorted(each.upstream for each in after[name]) for name in sorted(after)}
    try:
        order = tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise _cycle(project, after, list(reversed(error.args[1]))) from None
    return tuple(name for name in order if name in wanted)


def check_workflows(project: Project) -> None:
    """Refuse workflows that name what nobody declares, or wait for each other."""
    for workflow in project.workflows.values():
        for job in workflow.jobs:
            if job not in project.pipelines and job not in project.workflows:
                raise UnknownName.among(
                    f"job of workflow {workflow.name!r}:",
                    job,
                    [*project.pipelines, *project.workflows],
                    where=workflow.location,
                )
        for name in names_in(workflow.triggered_by):
            if name not in project.pipelines and name not in project.workflows:
                raise UnknownName.among(
                    f"trigger of workflow {workflow.name!r}:",
                    name,
                    [*project.pipelines, *project.workflows],
                    where=workflow.location,
                )
            if name in workflow.jobs:
                raise DeclarationError(
                    f"workflow {workflow.name!r} is triggered by its own job {name!r}, so it would "
                    "start itself again and again",
                    where=workflow.location,
                    hint="trigger it by something that it does not run",
                )
    _refuse_circle(
        "workflows",
        {
            name: (*workflow.jobs, *names_in(workflow.triggered_by))
            for name, workflow in project.workflows.items()
        },
        project.workflows,
        hint="remove one of these jobs or triggers",
    )


def check_transforms(project: Project) -> None:
    """Refuse references to transforms, and dependencies of transforms, that nobody declares."""
    for pipeline in project.pipelines.values():
        for step in (*pipeline.transforms_pre, *pipeline.transforms_post):
            if isinstance(step, TransformRef) and step.name not in project.transforms:
                raise UnknownName.among(
                    f"transform in pipeline {pipeline.name!r}:",
                    step.name,
                    project.transforms,
                    where=pipeline.location,
                )
    for transform in project.transforms.values():
        for upstream in transform.depends_on:
            if upstream not in project.pipelines and upstream not in project.transforms:
                raise UnknownName.among(
                    f"name in depends_on of transform {transform.name!r}:",
                    upstream,
                    [*project.pipelines, *project.transforms],
                    where=transform.location,
                )
    _refuse_circle(
        "transforms",
        {name: transform.depends_on for name, transform in project.transforms.items()},
        project.transforms,
        hint="remove one of these dependencies",
    )


def _refuse_circle(
    what: str,
    waits_for: Mapping[str, tuple[str, ...]],
    declared: Mapping[str, Workflow] | Mapping[str, Transform],
    hint: str,
) -> None:
    graph = {
        name: [each for each in waits_for[name] if each in declared] for name in sorted(declared)
    }
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        names = list(reversed(error.args[1]))
        lines = [f"  {name} ({declared[name].location})" for name in names]
        alone = len(set(names)) == 1
        raise DeclarationError(
            f"{names[0]!r} waits for itself"
            if alone
            else f"{what} wait for each other in a circle: " + " -> ".join(names),
            where=declared[names[0]].location,
            details="\n".join(lines),
            hint=hint,
        ) from None


def _cycle(
    project: Project, after: Mapping[str, tuple[Dependency, ...]], names: list[str]
) -> DeclarationError:
    whys = {(name, each.upstream): each.why for name in names for each in after[name]}
    lines = []
    for name, upstream in zip(names, [*names[1:], None], strict=True):
        why = f" after {upstream}: {whys[name, upstream]}" if upstream else ""
        lines.append(f"  {name} ({project.pipelines[name].location}){why}")
    return DeclarationError(
        "pipelines depend on each other in a circle: " + " -> ".join(names),
        where=project.pipelines[names[0]].location,
        details="\n".join(lines),
        hint="remove one of these dependencies; depends_on=[] says that reading a table is none",
    )
