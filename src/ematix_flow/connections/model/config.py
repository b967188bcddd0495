"""A config (of TOML, a class, a call) read as a model and its properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ematix_flow._base.suggest import did_you_mean
from ematix_flow.connections.model.property import properties_of
from ematix_flow.connections.model.registry import model_of
from ematix_flow.errors import DeclarationError

if TYPE_CHECKING:
    from ematix_flow.connections.model.connection import Connection

# What users of other tools also call a property.
_ALIASES = {"type": "kind", "dsn": "url"}


def read_config(
    given: str, config: Mapping[str, Any], origin: str
) -> tuple[type[Connection], dict[str, Any]]:
    """Return the model and the keywords that *config* describes; an unknown key is an error."""
    values = _by_their_names(given, config, _ALIASES, origin)
    name = _name(given, values.pop("name", given), origin)
    model = model_of(name, values.pop("kind", None), values.get("url"), origin)
    values = _by_their_names(name, values, model.aliases, origin)
    values = _ungrouped(model, name, values, origin)
    for key in values:
        if key not in properties_of(model):
            raise unknown_property(model, name, key, origin)
    return model, {"name": name, **values}


def _name(given: str, said: object, origin: str) -> str:
    """Return the connection's one name, which its config may say as well."""
    if not isinstance(said, str) or (given and said != given):
        raise DeclarationError(
            f"connection {given!r} says that its name is {said!r}",
            where=origin or None,
            hint="leave the name out, or rename the connection",
        )
    return said


def _by_their_names(
    name: str, values: Mapping[str, Any], aliases: Mapping[str, str], origin: str
) -> dict[str, Any]:
    """Return *values* without aliases; what is given under two names would be lost."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if (full := aliases.get(key, key)) in found:
            alias = next(each for each in values if aliases.get(each) == full)
            raise _given_twice(name, full, alias, origin)
        found[full] = value
    return found


def _ungrouped(
    model: type[Connection], name: str, values: Mapping[str, Any], origin: str
) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if key in model.groups and isinstance(value, Mapping):
            if key in properties_of(model):
                flat[key] = True
            for inner, each in value.items():
                if (full := f"{key}_{inner}") in values:
                    raise _given_twice(name, full, f"{key}.{inner}", origin)
                flat[full] = each
        else:
            flat[key] = value
    return flat


def _given_twice(name: str, key: str, alias: str, origin: str) -> DeclarationError:
    return DeclarationError(
        f"connection {name!r}: {key} is given twice, once as {alias}",
        where=origin or None,
        hint="keep one of them",
    )


def unknown_property(model: type[Connection], name: str, key: str, where: str) -> DeclarationError:
    """Build the error of a key that the kind does not know."""
    known = properties_of(model)
    return DeclarationError(
        f"connection {name!r} ({model.kind}) has no property {key!r}"
        + did_you_mean(key, known)
        + f" (it has: {', '.join(known)})",
        where=where or None,
    )
