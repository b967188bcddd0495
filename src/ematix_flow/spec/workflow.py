"""Pipelines run as a unit, by a schedule or when something happened."""

from __future__ import annotations

from dataclasses import dataclass, field

from ematix_flow._base.location import Location
from ematix_flow.errors import refused
from ematix_flow.spec.schedule import Schedule


@dataclass(frozen=True, slots=True, init=False)
class AllOf:
    """Fires when every one of these has happened since it last fired."""

    triggers: tuple[Trigger, ...]

    def __init__(self, *triggers: object) -> None:
        object.__setattr__(self, "triggers", _triggers("AllOf", triggers))


@dataclass(frozen=True, slots=True, init=False)
class AnyOf:
    """Fires when one of these happens."""

    triggers: tuple[Trigger, ...]

    def __init__(self, *triggers: object) -> None:
        object.__setattr__(self, "triggers", _triggers("AnyOf", triggers))


# A pipeline's or workflow's success, by name, or several of them.
Trigger = str | AllOf | AnyOf


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """A named set of pipelines with one record of its own.

    :param on_message: Fires for each message: a connection, or `connection/topic`.
    """

    name: str
    jobs: tuple[str, ...]
    location: Location
    schedule: Schedule | None = None
    triggered_by: Trigger | None = None
    on_message: str | None = None
    tags: tuple[str, ...] = field(default=())


def names_in(trigger: Trigger | None) -> tuple[str, ...]:
    """Return every pipeline and workflow that *trigger* listens to, each once."""
    match trigger:
        case None:
            return ()
        case str():
            return (trigger,)
        case AllOf(triggers) | AnyOf(triggers):
            found = (name for each in triggers for name in names_in(each))
            return tuple(dict.fromkeys(found))


def as_trigger(value: object) -> Trigger:
    """Read a name, something that has one, AllOf or AnyOf."""
    if isinstance(value, str | AllOf | AnyOf) and value:
        return value
    name = getattr(value, "name", None)
    if isinstance(name, str):
        return name
    raise refused(
        f"takes the name of a pipeline or workflow, AllOf(...) or AnyOf(...), not {value!r}"
    )


def _triggers(what: str, values: tuple[object, ...]) -> tuple[Trigger, ...]:
    if not values:
        raise refused(f"{what} takes at least one trigger")
    return tuple(as_trigger(each) for each in values)
