"""The models by their kinds, and how a kind is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ematix_flow.connections.model.property import properties_of
from ematix_flow.connections.model.url import has_scheme
from ematix_flow.connections.reference import has_reference
from ematix_flow.errors import DeclarationError, UnknownName

if TYPE_CHECKING:
    from ematix_flow.connections.model.connection import Connection

# Every model enters itself here, so that one from elsewhere is no different from ours.
KINDS: dict[str, type[Connection]] = {}


def property_names(kind: str) -> tuple[str, ...]:
    """Return what a connection of *kind* can be given, each as its own text."""
    model = KINDS[kind]
    return (*properties_of(model), *model.aliases, "dsn")


def model_of(name: str, kind: object, url: object, origin: str) -> type[Connection]:
    """Return the model of *kind*, or of the kind that *url* says by its scheme."""
    if kind is None:
        kind = _kind_of_url(name, url, origin)
    if not isinstance(kind, str) or kind not in KINDS:
        where = origin or None
        raise UnknownName.among(f"kind of connection {name!r}:", str(kind), KINDS, where=where)
    return KINDS[kind]


def _kind_of_url(name: str, url: object, origin: str) -> str:
    scheme = str(url or "").lower().partition("://")[0]
    is_url = has_scheme(str(url or ""))
    by_scheme = {each: model.kind for model in KINDS.values() for each in model.schemes}
    if is_url and scheme in by_scheme:
        return by_scheme[scheme]
    possible = sorted(kind for kind, model in KINDS.items() if scheme in model.other_schemes)
    if is_url and not possible and not has_reference(scheme):
        raise UnknownName.among(
            f"scheme in the URL of connection {name!r}:", scheme, by_scheme, where=origin or None
        )
    raise DeclarationError(
        f"connection {name!r} has no kind (one of {', '.join(possible or sorted(KINDS))})",
        where=origin or None,
        hint='add kind = "..."',
    )
