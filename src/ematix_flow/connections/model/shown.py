"""A property's value as anyone may see it."""

from __future__ import annotations

from typing import Any

from ematix_flow._base.redact import MASK, looks_secret, redact
from ematix_flow.connections.model.property import Property
from ematix_flow.connections.model.settings import Settings
from ematix_flow.connections.reference import masked_default, only_references


def shown_value(each: Property, value: Any) -> Any:
    """Return *value* with what is secret in it masked; a reference is shown, as it tells where."""
    match value:
        case Settings():
            return {key: _shown(text, secret=looks_secret(key)) for key, text in value.items()}
        case str():
            return _shown(value, secret=each.secret)
        case _:
            return MASK if each.secret else value


def _shown(text: str, *, secret: bool) -> str:
    if not secret:
        return redact(text)
    return masked_default(text) if only_references(text) else MASK
