"""What a pipeline's function asks for, by the names of its parameters."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from enum import StrEnum

from ematix_flow._base.suggest import did_you_mean
from ematix_flow.declare.project import Project
from ematix_flow.errors import DeclarationError
from ematix_flow.spec.pipeline import Pipeline


class Role(StrEnum):
    """What a parameter stands for."""

    SOURCE = "src"
    TARGET = "tgt"
    SPARK = "spark"
    PIPELINE = "pipeline"
    TABLE = "table"


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One parameter: its name, and for a pipeline or table the declared one it stands for."""

    name: str
    role: Role
    stands_for: str = ""


_FIXED = {"src": Role.SOURCE, "tgt": Role.TARGET, "spark": Role.SPARK}


def arguments_of(pipeline: Pipeline, project: Project) -> tuple[Argument, ...]:
    """Return what the function is to be called with; a parameter nobody declares is an error."""
    found = []
    for name, parameter in _signature(pipeline).parameters.items():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise DeclarationError(
                f"pipeline {pipeline.name!r} takes *{name}, and nothing could be passed to it",
                where=pipeline.location,
                hint="name what it reads: src, tgt, spark, a pipeline or a table",
            )
        argument = _argument(name, pipeline, project)
        if argument is None:
            if parameter.default is not inspect.Parameter.empty:
                continue
            raise _unknown(name, pipeline, project)
        found.append(argument)
    return tuple(found)


def _signature(pipeline: Pipeline) -> inspect.Signature:
    try:
        return inspect.signature(pipeline.function)
    except ValueError:  # some of Python's own do not tell it
        raise DeclarationError(
            f"pipeline {pipeline.name!r} is {pipeline.function!r}, which does not tell its "
            "parameters",
            where=pipeline.location,
            hint="put it into a function of your own",
        ) from None


def _argument(name: str, pipeline: Pipeline, project: Project) -> Argument | None:
    if name in _FIXED:
        return Argument(name=name, role=_FIXED[name])
    if name in project.pipelines and name != pipeline.name:
        return Argument(name=name, role=Role.PIPELINE, stands_for=name)
    tables = [key for key, table in project.tables.items() if table.name.name == name]
    if len(tables) > 1:
        raise DeclarationError(
            f"parameter {name!r} of pipeline {pipeline.name!r} could be {' or '.join(tables)}",
            where=pipeline.location,
            hint="name the pipeline that writes it, or read it by src.table(...)",
        )
    return Argument(name=name, role=Role.TABLE, stands_for=tables[0]) if tables else None


def _unknown(name: str, pipeline: Pipeline, project: Project) -> DeclarationError:
    tables = sorted({table.name.name for table in project.tables.values()})
    others = [each for each in sorted(project.pipelines) if each != pipeline.name]
    return DeclarationError(
        f"pipeline {pipeline.name!r} takes a parameter {name!r} that nobody declares"
        + did_you_mean(name, [*_FIXED, *others, *tables])
        + f" (known: src, tgt, spark; pipelines: {', '.join(others) or 'no other'}; "
        f"tables: {', '.join(tables) or 'none'})",
        where=pipeline.location,
    )
