"""Targets given by name: a module that is loaded later may declare the table."""

from __future__ import annotations

from dataclasses import replace

from ematix_flow.declare.project import Project
from ematix_flow.declare.write_rules import check_write
from ematix_flow.errors import DeclarationError
from ematix_flow.spec.pipeline import TargetSpec
from ematix_flow.spec.table import Table


def bind_named_targets(project: Project) -> None:
    """Give each target that is only a name the table of that name, where one is declared."""
    for name, pipeline in project.pipelines.items():
        bound = tuple(_bound(target, project) for target in pipeline.targets)
        if bound != pipeline.targets:
            project.pipelines[name] = replace(pipeline, targets=bound)


def _bound(target: TargetSpec, project: Project) -> TargetSpec:
    if isinstance(target.table, Table):
        return target
    if (declared := project.tables.get(str(target.name))) is not None:
        found = replace(target, table=declared)
        check_write(found, frozenset(), target.location)
        return found
    if target.write.mode.needs_key and not target.write.keys:
        raise DeclarationError(
            f"mode {target.write.mode.value!r} matches rows by key, and of {target.name} only the "
            "name is known",
            where=target.location,
            hint="pass keys=[...], or declare the table with @ematix.table",
        )
    return target
