"""The `ematix` namespace: decorators that each build one spec and add it to the active project."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

from ematix_flow._base.location import Location, caller_location
from ematix_flow._base.suggest import nearest
from ematix_flow.connections.model import Connection
from ematix_flow.declare.columns import columns_of
from ematix_flow.declare.project import active_project
from ematix_flow.errors import DeclarationError, UnknownName
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.table import Table, TableName

Function = TypeVar("Function", bound=Callable[..., object])
Class = TypeVar("Class", bound=type)

_TABLE = "__ematix_table__"
_PIPELINE_KEYWORDS = (
    "target",
    "mode",
    "name",
    "source_connection",
    "target_connection",
    "source_table",
    "depends_on",
    "engine",
    "tags",
)


def connection(cls: type) -> Connection:
    """Declare a connection: the class's name is its name, its attributes are its properties.

    The class is replaced by the connection itself, so it can be passed to a pipeline.
    """
    location = caller_location()
    config = {key: value for key, value in vars(cls).items() if not key.startswith("__")}
    built = Connection.from_config(cls.__name__, config, origin=str(location))
    active_project().add_connection(built, location)
    return built


def table(cls: Class | None = None, *, name: str | None = None, schema: str | None = None) -> Any:
    """Declare a table: annotations are its columns, the name is the class's in snake_case."""
    location = caller_location()

    def declare(cls: Class) -> Class:
        spec = Table(
            name=TableName(
                name=_table_name(name or _snake_case(cls.__name__), location), schema=schema
            ),
            columns=columns_of(cls, location),
            location=location,
        )
        active_project().add_table(spec)
        setattr(cls, _TABLE, spec)
        return cls

    return declare if cls is None else declare(cls)


def pipeline(
    *,
    target: type | None = None,
    mode: str = "append",
    name: str | None = None,
    source_connection: str | Connection | None = None,
    target_connection: str | Connection | None = None,
    source_table: str | None = None,
    depends_on: tuple[str, ...] | list[str] | str = (),
    engine: str | None = None,
    tags: tuple[str, ...] | list[str] | str = (),
    **unknown: object,
) -> Callable[[Function], Function]:
    """Declare a pipeline: the function returns the query whose rows go into *target*."""
    location = caller_location()
    for keyword in unknown:
        raise _unknown_keyword(keyword, location)
    for keyword, value in (("name", name), ("source_table", source_table), ("engine", engine)):
        _check_name(keyword, value, location)

    def declare(function: Function) -> Function:
        active_project().add_pipeline(
            Pipeline(
                name=_name(name or function.__name__, location),
                target=_table_of(target, location),
                mode=_mode(mode, location),
                source_connection=_connection_name(source_connection, "source", location),
                target_connection=_connection_name(target_connection, "target", location),
                source_table=source_table,
                depends_on=_names("depends_on", depends_on, location),
                engine=engine,
                tags=_names("tags", tags, location),
                description=inspect.cleandoc(function.__doc__ or "").partition("\n")[0],
                function=function,
                location=location,
            )
        )
        return function

    return declare


# The name by which orchestrators call the same thing.
job = pipeline


def _unknown_keyword(keyword: str, location: Location) -> DeclarationError:
    guess = nearest(keyword, _PIPELINE_KEYWORDS)
    return DeclarationError(
        f"a pipeline has no keyword {keyword!r}"
        + (f"; did you mean {guess!r}?" if guess else "")
        + f" (known: {', '.join(_PIPELINE_KEYWORDS)})",
        where=location,
    )


def _check_name(keyword: str, value: object, location: Location) -> None:
    if value is not None and (not isinstance(value, str) or not value):
        raise DeclarationError(f"{keyword} takes a name, not {value!r}", where=location)


def _names(keyword: str, value: object, location: Location) -> tuple[str, ...]:
    found = (value,) if isinstance(value, str) else value
    if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
        raise DeclarationError(
            f"{keyword} takes a name or a list of names, not {value!r}", where=location
        )
    return tuple(found)


def _name(name: str, location: Location) -> str:
    # It names files, locks and ledger rows.
    if not re.fullmatch(r"[A-Za-z_][\w.\-]{0,99}", name):
        raise DeclarationError(
            f"{name!r} cannot name a pipeline: a letter first, then letters, digits, _ . -",
            where=location,
        )
    return name


def _table_name(name: str, location: Location) -> str:
    if name.casefold().startswith("_flow_"):
        raise DeclarationError(
            f"{name!r} cannot name a table: names that begin with _flow_ are for the ledger, "
            "the fence and staging",
            where=location,
        )
    return name


def _table_of(target: object, location: Location) -> Table:
    found = vars(target).get(_TABLE) if isinstance(target, type) else None
    if isinstance(found, Table):
        return found
    shown = target.__name__ if isinstance(target, type) else repr(target)
    raise DeclarationError(
        "a pipeline needs a target table"
        if target is None
        else f"target={shown} is not a table class",
        where=location,
        hint="declare one with @ematix.table and pass the class: target=Orders",
    )


def _mode(mode: str, location: Location) -> Mode:
    try:
        return Mode(mode)
    except ValueError:
        raise UnknownName.among("mode", str(mode), list(Mode), where=location) from None


def _connection_name(value: str | Connection | None, role: str, location: Location) -> str:
    match value:
        case str():
            return value
        case Connection():
            return value.name
        case _:
            raise DeclarationError(
                f"a pipeline needs a {role}_connection, not {value!r}",
                where=location,
                hint=f'pass its name: {role}_connection="warehouse"',
            )


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
