"""`${VAR}` and `${VAR:-default}`."""

from __future__ import annotations

from dataclasses import dataclass

from ematix_flow.connections.resolvers.port import ResolverContext, Secret
from ematix_flow.errors import ConfigError


@dataclass(frozen=True, slots=True)
class EnvironmentResolver:
    """The process's environment."""

    context: ResolverContext

    def fetch(self, reference: str) -> Secret:
        """Return the variable's value, or its default."""
        name, has_default, default = reference.partition(":-")
        value = self.context.environ.get(name)
        if value is not None:
            return Secret(value=value, source=f"environment variable {name}", public=True)
        if has_default:
            source = f"the default; the variable {name} is not set"
            return Secret(value=default, source=source, public=True)
        raise ConfigError(
            f"${{{name}}} is used in a connection, but the variable {name} is not set",
            hint=f"export {name}=..., or give a default: ${{{name}:-...}}",
        )
