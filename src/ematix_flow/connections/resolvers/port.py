"""What a resolver is: third parties add theirs by the entry point group below.

An entry point is named like its prefix (`${name:...}`) and gives a function of a
`ResolverContext` that returns a `Resolver`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ematix_flow.errors import ConfigError

GROUP = "ematix_flow.secret_resolvers"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolverContext:
    """What a resolver may need: the project's environment and its folder."""

    environ: Mapping[str, str]
    base: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """What a reference stands for, and where it was found.

    :param public: It is known not to be secret, as a folder from a variable.
    """

    value: str = field(repr=False)
    source: str
    public: bool = False


class Resolver(Protocol):
    """One place where secrets are kept."""

    def fetch(self, reference: str) -> Secret:
        """Return what *reference* (the text behind the prefix) stands for, or a ConfigError."""
        ...


def unresolved(
    prefix: str, reference: str, why: str, *, where: str | None = None, hint: str | None = None
) -> ConfigError:
    """Build the error of a reference that cannot be resolved."""
    return ConfigError(f"${{{prefix}:{reference}}} {why}", where=where, hint=hint)


def missing_package(prefix: str, reference: str, package: str) -> ConfigError:
    """Build the error of a resolver whose client is not installed."""
    return unresolved(
        prefix,
        reference,
        f"needs the package {package}, which is not installed",
        hint=f"pip install 'ematix-flow[{prefix}]'",
    )


def chosen(prefix: str, reference: str, fields: Mapping[str, object], key: str) -> str:
    """Return one field of a secret that has several; none named is fine where there is one."""
    if not key and len(fields) == 1:
        [key] = fields
    if key not in fields:
        listed = ", ".join(sorted(fields)) or "none"
        wanted = f"has no key {key!r}" if key else "needs a key"
        raise unresolved(
            prefix,
            reference,
            f"{wanted} (it has: {listed})",
            hint=f"write ${{{prefix}:{reference.partition('#')[0]}#key}}",
        )
    value = fields[key]
    return value if isinstance(value, str) else str(value)
