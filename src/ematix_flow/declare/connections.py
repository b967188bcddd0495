"""Declaring connections: a class of properties, or a call."""

from __future__ import annotations

from ematix_flow._base.location import Location, caller_location
from ematix_flow.connections.model import Connection
from ematix_flow.declare.project import active_project
from ematix_flow.errors import DeclarationError


def connection(cls: type) -> Connection:
    """Declare a connection: the class's name is its name, its attributes are its properties.

    The class is replaced by the connection itself, so it can be passed to a pipeline.
    """
    location = caller_location()
    if not isinstance(cls, type):
        raise DeclarationError(
            f"@ematix.connection stands above a class, not {cls!r}",
            where=location,
            hint='or call connect("name", kind="...", ...)',
        )
    config = {key: value for key, value in vars(cls).items() if not key.startswith("__")}
    return _declared(cls.__name__, config, location)


def connect(name: str, **properties: object) -> Connection:
    """Declare a connection by a call: `connect("warehouse", kind="postgres", url=...)`."""
    location = caller_location()
    given: object = name
    if not isinstance(given, str) or not given:
        raise DeclarationError(f"connect takes a name first, not {name!r}", where=location)
    return _declared(name, properties, location)


def name_of(value: object) -> str:
    """Return a connection's name, entering a typed one into the project where it is new.

    ValueError if there is no name.
    """
    if not isinstance(value, Connection):
        if not isinstance(value, str) or not value:
            raise ValueError(f"takes a connection or its name, not {value!r}")
        return value
    if not value.name:
        raise ValueError(f'needs a name: {type(value).__name__}(name="...", ...)')
    project = active_project()
    if project.connections.get(value.name) != value:
        project.add_connection(value, caller_location())
    return value.name


def _declared(name: str, config: dict[str, object], location: Location) -> Connection:
    built = Connection.from_config(name, config, origin=str(location))
    active_project().add_connection(built, location)
    return built
