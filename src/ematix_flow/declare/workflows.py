"""Declaring workflows and stand-alone transforms."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from ematix_flow._base.location import Location, caller_location
from ematix_flow.connections.model import Connection
from ematix_flow.declare import values
from ematix_flow.declare.connections import name_of
from ematix_flow.declare.project import active_project
from ematix_flow.errors import DeclarationError
from ematix_flow.spec.schedule import Schedule
from ematix_flow.spec.transform import Transform, TransformRef
from ematix_flow.spec.workflow import AllOf, AnyOf, Workflow, as_trigger

Function = TypeVar("Function", bound=Callable[..., object])


def workflow(
    name: str,
    jobs: Sequence[Any],
    *,
    schedule: str | None = None,
    timezone: str | None = None,
    triggered_by: str | AllOf | AnyOf | Any | None = None,
    on_message: str | None = None,
    tags: str | Sequence[str] = (),
) -> Workflow:
    """Declare a set of pipelines that run as a unit."""
    location = caller_location()
    with _refusing(location):
        spec = Workflow(
            name=values.declared_name(name, "workflow"),
            jobs=_jobs(jobs),
            location=location,
            schedule=_schedule(schedule, timezone),
            triggered_by=None if triggered_by is None else as_trigger(triggered_by),
            on_message=None if on_message is None else values.name(on_message),
            tags=values.names(tags) if tags else (),
        )
    active_project().add_workflow(spec)
    return spec


def transform(
    *,
    target_connection: str | Connection,
    name: str | None = None,
    schedule: str | None = None,
    timezone: str | None = None,
    depends_on: str | Sequence[Any] = (),
    dialect: str | None = None,
) -> Callable[[Function], Function]:
    """Declare a stand-alone transform: the function returns SQL to run in a connection."""
    location = caller_location()

    def declare(function: Function) -> Function:
        with _refusing(location):
            spec = Transform(
                name=values.declared_name(name or function.__name__, "transform"),
                target_connection=name_of(target_connection),
                function=function,
                location=location,
                schedule=_schedule(schedule, timezone),
                depends_on=values.names(depends_on) if depends_on else (),
                dialect=None if dialect is None else _dialect(dialect),
                description=inspect.cleandoc(function.__doc__ or "").partition("\n")[0],
            )
        active_project().add_transform(spec)
        return function

    return declare


def transform_ref(name: str) -> TransformRef:
    """Use a stand-alone transform in `transforms_pre` or `transforms_post`."""
    with _refusing(caller_location()):
        return TransformRef(name=values.name(name))


def _dialect(name: str) -> str:
    # Imported by those who name one: reading SQL is for planning.
    from ematix_flow.sqltext.dialect import known_dialect

    return known_dialect(name, caller_location())


def _jobs(jobs: object) -> tuple[str, ...]:
    found = values.names(jobs)
    if not found:
        raise ValueError("a workflow takes at least one job")
    return found


def _schedule(cron: str | None, timezone: str | None) -> Schedule | None:
    if cron is None:
        if timezone is not None:
            raise ValueError("timezone says how a schedule is read, but there is no schedule")
        return None
    return Schedule(cron=values.name(cron), timezone=timezone or "UTC")


@contextmanager
def _refusing(location: Location) -> Iterator[None]:
    """Turn a ValueError of the block into a DeclarationError at the user's line."""
    try:
        yield
    except ValueError as error:
        raise DeclarationError(str(error), where=location) from None
