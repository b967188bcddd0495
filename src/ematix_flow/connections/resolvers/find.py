"""Finding the resolver of a reference by its prefix."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType

from ematix_flow.connections.resolvers.aws import AwsResolver
from ematix_flow.connections.resolvers.environment import EnvironmentResolver
from ematix_flow.connections.resolvers.file import FileResolver
from ematix_flow.connections.resolvers.gcp import GcpResolver
from ematix_flow.connections.resolvers.port import GROUP, Resolver, ResolverContext
from ematix_flow.connections.resolvers.vault import VaultResolver
from ematix_flow.errors import ConfigError, UnknownName

Factory = Callable[[ResolverContext], Resolver]

ENVIRONMENT = ""
_OURS: dict[str, Factory] = {
    ENVIRONMENT: EnvironmentResolver,
    "file": FileResolver,
    "vault": VaultResolver,
    "aws": AwsResolver,
    "gcp": GcpResolver,
}
# `${NAME:-default}` has no prefix.
_PREFIXED = re.compile(r"(?P<prefix>[A-Za-z][\w-]*):(?!-)(?P<rest>.*)", re.DOTALL)


def split(body: str) -> tuple[str, str]:
    """Return the prefix of a reference (none: the environment) and what is behind it."""
    found = _PREFIXED.fullmatch(body)
    return (found["prefix"], found["rest"]) if found else (ENVIRONMENT, body)


def resolver(prefix: str, context: ResolverContext) -> Resolver:
    """Return the resolver for *prefix*, ours or a third party's."""
    known = {**_theirs(), **_OURS}
    if prefix not in known:
        raise UnknownName.among(
            "kind of secret reference",
            prefix,
            [each for each in known if each],
            hint=f"write ${{VARIABLE}} for a variable; packages add kinds by the entry point "
            f"group {GROUP}",
        )
    return known[prefix](context)


@cache
def _theirs() -> Mapping[str, Factory]:
    found: dict[str, Factory] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        try:
            found[entry.name] = entry.load()
        except ImportError as error:
            raise ConfigError(
                f"secret resolver {entry.name!r} ({entry.value}) cannot be loaded: {error}",
                hint="reinstall the package that provides it",
            ) from error
    return MappingProxyType(found)
