"""A property of a connection: how a model declares one, and what is known of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ematix_flow._base.redact import looks_secret
from ematix_flow.connections.model.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """What a connection can be given under one name.

    :param type: `str`, `int`, `bool` or `Settings`.
    :param choices: The only texts it takes; empty where any will do.
    :param secret: It must never be shown, and should not be written down.
    :param function: It takes a function too, and keeps its name.
    """

    name: str
    type: type
    default: Any
    description: str
    choices: tuple[str, ...] = ()
    secret: bool = False
    function: bool = False


def prop(default: Any, description: str, *, secret: bool = False, function: bool = False) -> Any:
    """Declare a property; its annotation says what it takes."""
    told = {"description": description, "secret": secret, "function": function}
    return field(default=default, metadata=told)


_known: dict[type, Mapping[str, Property]] = {}


def properties_of(model: type[Any]) -> Mapping[str, Property]:
    """Return the properties of *model* by name, in declared order."""
    if model not in _known:
        hints = get_type_hints(model)
        _known[model] = {
            each.name: _property(each, hints[each.name])
            for each in dataclasses.fields(model)
            if "description" in each.metadata
        }
    return _known[model]


def _property(declared: dataclasses.Field[Any], hint: Any) -> Property:
    options = [each for each in _options(hint) if each is not type(None)]
    choices = get_args(options[0]) if get_origin(options[0]) is Literal else ()
    return Property(
        name=declared.name,
        type=str if choices else _type(options[0]),
        default=declared.default,
        description=declared.metadata["description"],
        choices=choices,
        secret=declared.metadata["secret"] or looks_secret(declared.name),
        function=declared.metadata["function"],
    )


def _type(hint: Any) -> type:
    found: type = Settings if get_origin(hint) is Mapping else hint
    return found


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
