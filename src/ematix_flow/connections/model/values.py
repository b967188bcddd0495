"""A property's value: judged as declared, and read from text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ematix_flow._base.suggest import did_you_mean
from ematix_flow.connections.model.property import Property
from ematix_flow.connections.model.settings import Settings
from ematix_flow.connections.reference import has_reference, only_references


class Unfit(ValueError):
    """A value that a property does not take."""

    def __init__(self, takes: str, given: str) -> None:
        """
        :param takes: What it takes; safe to show.
        :param given: What it was given instead.
        """
        self.takes = takes
        super().__init__(f"takes {takes}, not {given}")


_ARTICLES = {str: "a str", int: "an int", bool: "a bool"}
_BOOLEANS = {"true": True, "false": False}
# More digits than any setting needs are no number, and Python refuses thousands of them.
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def declared(each: Property, value: Any) -> Any:
    """Return *value* as the model keeps it; Unfit says what the property takes instead."""
    if value is None and each.default is None:
        return None
    # Judged when the reference is resolved.
    if isinstance(value, str) and _is_later(each, value):
        return value
    if each.type is Settings:
        return _settings(value)
    if each.function and callable(value):
        return _function_name(value)
    # True is an int to Python, and never meant as one.
    if not isinstance(value, each.type) or (each.type is int and isinstance(value, bool)):
        raise Unfit(_ARTICLES[each.type], _shown(each, value))
    if each.choices and value not in each.choices:
        meant = did_you_mean(value, each.choices)
        raise Unfit(f"one of {', '.join(each.choices)}", f"{value!r}{meant}")
    return value


def from_text(each: Property, text: str) -> Any:
    """Read *text*, from where there is nothing but text: the environment, a URL, a secret."""
    if _is_later(each, text):
        return text
    if each.type is bool:
        return _BOOLEANS.get(text.lower(), text)
    if each.type is int:
        return int(text) if _WHOLE.fullmatch(text.strip()) else text
    if each.type is Settings:
        return _settings_from_text(text)
    return text


def _is_later(each: Property, text: str) -> bool:
    """Tell whether only a reference's value tells; a table can be read around its references."""
    return only_references(text) if each.type is Settings else has_reference(text)


def _settings(value: Any) -> Settings:
    if isinstance(value, Settings):
        return value
    if not isinstance(value, Mapping):
        raise Unfit("a table of settings", f"a {type(value).__name__}")
    try:
        return Settings(value)
    except TypeError as error:
        raise Unfit("a table of texts", str(error)) from None


def _settings_from_text(text: str) -> Any:
    """Read JSON, or `name=value,name=value`; what is neither is left for the judgement."""
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return text
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    if not all(equals for _, equals, _ in pairs):
        return text
    return {name.strip(): value.strip() for name, _, value in pairs}


def _function_name(function: Any) -> str:
    name = f"{function.__module__}:{function.__qualname__}"
    if "<" in name:
        raise Unfit("a function that can be imported by its name", name)
    return name


def _shown(each: Property, value: object) -> str:
    return f"a {type(value).__name__}" if each.secret else repr(value)
