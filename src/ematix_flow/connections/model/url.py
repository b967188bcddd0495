"""What a URL says of a connection, property by property."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ematix_flow.connections.model.address import Address
from ematix_flow.connections.model.property import properties_of
from ematix_flow.connections.reference import has_reference

if TYPE_CHECKING:
    from ematix_flow.connections.model.connection import Connection

# Not `password: %40`, which redaction would take for one.
ENCODE = "percent-encode what is special in a user or password (%40 for @, %2F for /, %3F for ?)"
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*", re.IGNORECASE)


class BadUrl(ValueError):
    """A URL that does not fit the kind. It never shows the URL: its password may be in it."""

    def __init__(self, what: str, *, hint: str | None = None) -> None:
        super().__init__(what)
        self.hint = hint


class UnknownInUrl(KeyError):
    """A name in the query of a URL that is no property."""


def is_pending(url: str) -> bool:
    """Tell whether a URL is known only once its reference is resolved."""
    return "://" not in url and has_reference(url)


def has_scheme(url: str) -> bool:
    """Tell whether *url* begins with a scheme, and not with a login that has :// behind it."""
    scheme, separator, _ = url.partition("://")
    return bool(separator) and (_SCHEME.fullmatch(scheme) is not None or has_reference(scheme))


def said_by(model: type[Connection], url: str) -> dict[str, str]:
    """Return the properties of *model* that *url* says, as texts."""
    if not has_scheme(url):
        if (said := model._from_text(url)) is not None:
            return said
        schemes = ", ".join(model.schemes)
        raise BadUrl(f"{model.kind} takes a URL with a scheme ({schemes}), and this text has none")
    try:
        address = Address.of(url)
    except ValueError as error:
        raise BadUrl(str(error), hint=ENCODE) from None
    if address.scheme not in (taken := (*model.schemes, *model.other_schemes)):
        raise BadUrl(
            f"a URL of scheme {address.scheme!r} is not for kind {model.kind!r} "
            f"(it takes: {', '.join(taken)})"
        )
    if address.stray_at and any(each.secret for each in properties_of(model).values()):
        raise BadUrl("its URL has an @ where none belongs", hint=ENCODE)
    _refuse_unread(model, address)
    said = {key: text for key, text in model._from_address(address).items() if text}
    return said | _asked(model, address.query)


def _refuse_unread(model: type[Connection], address: Address) -> None:
    """Refuse a part that the kind makes nothing of: a login for S3, say, would just be lost."""
    said = model._from_address(address)
    parts = {
        "user": (address.user, replace(address, user=None)),
        "password": (address.password, replace(address, password=None)),
        "port": (address.port, replace(address, port=None)),
        "path": (address.path, replace(address, path="")),
    }
    for part, (given, without) in parts.items():
        if given and model._from_address(without) == said:
            what = f"its URL has a {part}, which kind {model.kind!r} does not take from a URL"
            raise BadUrl(what)


def _asked(model: type[Connection], query: Mapping[str, str]) -> dict[str, str]:
    """Return what a query says: properties, and settings where the kind passes them on."""
    known, found, others = properties_of(model), {}, {}
    for key, text in query.items():
        name = model.aliases.get(key, key)
        if name in known and name != "url":
            found[name] = text
        elif "properties" in known:
            others[name] = text
        else:
            raise UnknownInUrl(key)
    if others:
        found["properties"] = json.dumps(others)
    return found
