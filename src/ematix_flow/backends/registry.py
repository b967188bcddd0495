"""Finding backends: by entry point only, so that a third party's is no different from ours."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType

from ematix_flow.errors import PlanError
from ematix_flow.ports import Backend
from ematix_flow.spec.capability import Capabilities

GROUP = "ematix_flow.backends"


@cache
def backends() -> Mapping[str, Backend]:
    """Return every installed backend by kind. Loads no driver."""
    found: dict[str, Backend] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        try:
            found[entry.name] = entry.load()
        except ImportError as error:
            raise PlanError(
                f"backend {entry.name!r} ({entry.value}) cannot be loaded: {error}",
                hint="reinstall the package that provides it",
            ) from error
    return MappingProxyType(found)


def capabilities() -> Mapping[str, Capabilities]:
    """Return what every installed backend can do."""
    return {kind: backend.capabilities for kind, backend in backends().items()}
