"""The user's own steps around a load: before rows are written, and after."""

from __future__ import annotations

from collections.abc import Callable

from ematix_flow.declare.project import Project
from ematix_flow.errors import DeclarationError, NotSupported
from ematix_flow.plan.steps import (
    AfterStep,
    CallAfter,
    PreTransform,
    Reshape,
    Restrict,
    RowStep,
    RunAfter,
)
from ematix_flow.resolve.call import call_transform
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.transform import FunctionStep, SqlStep, Transform, TransformRef, TransformStep
from ematix_flow.spec.window import Window
from ematix_flow.sqltext.split import statements_in

_DialectOf = Callable[[str], str]


def before_load(pipeline: Pipeline, window: Window | None, project: Project) -> tuple[RowStep, ...]:
    """Return the steps between the query and the targets."""
    udfs = tuple(project.udfs.values())
    kept = (Restrict(window=window, location=pipeline.location),) if window is not None else ()
    return (
        *kept,
        *(
            Reshape(change=_change(each, project), pipeline=pipeline, udfs=udfs)
            for each in pipeline.transforms_pre
        ),
    )


def after_load(
    pipeline: Pipeline, project: Project, dialect_of: _DialectOf
) -> tuple[AfterStep, ...]:
    """Return the steps after the last commit."""
    return tuple(_after(each, pipeline, project, dialect_of) for each in pipeline.transforms_post)


def transform_statements(transform: Transform, dialect_of: _DialectOf) -> tuple[str, ...]:
    """Return the SQL of a stand-alone transform."""
    dialect = dialect_of(transform.target_connection)
    if transform.dialect not in (None, dialect):
        raise NotSupported(
            f"transform {transform.name!r} is written in {transform.dialect}, and runs in "
            f"{transform.target_connection!r}, which speaks {dialect}",
            where=transform.location,
            hint=f"write it in {dialect}: what changes tables is not translated",
        )
    return statements_in(call_transform(transform), dialect)


def _change(step: TransformStep, project: Project) -> PreTransform:
    if isinstance(step, TransformRef):
        return SqlStep(sql=call_transform(project.transforms[step.name]))
    return step


def _after(
    step: TransformStep, pipeline: Pipeline, project: Project, dialect_of: _DialectOf
) -> RunAfter | CallAfter:
    continue_on_failure = pipeline.timing.continue_on_failure_post
    connection = pipeline.target.connection
    match step:
        case SqlStep(sql=sql):
            statements = statements_in(sql, dialect_of(connection))
            return RunAfter(
                connection=connection,
                sql=statements,
                label="SQL",
                continue_on_failure=continue_on_failure,
            )
        case TransformRef(name=name):
            transform = project.transforms[name]
            return RunAfter(
                connection=transform.target_connection,
                sql=transform_statements(transform, dialect_of),
                label=f"transform {name}",
                continue_on_failure=continue_on_failure,
            )
        case FunctionStep(function=function):
            return CallAfter(
                connection=connection,
                pipeline=pipeline,
                function=function,
                dialect=dialect_of(connection),
                continue_on_failure=continue_on_failure,
            )
        case _:
            raise DeclarationError(
                f"transforms_post of pipeline {pipeline.name!r} has {step}, which is for rows "
                "before they are written",
                where=pipeline.location,
                hint="put it into transforms_pre, or write SQL",
            )
