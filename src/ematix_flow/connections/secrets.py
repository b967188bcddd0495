"""`${...}` in a connection, resolved late: when it is used, never when it is declared."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ematix_flow._base.redact import register_secret, register_secrets_in
from ematix_flow.connections.reference import references, replaced
from ematix_flow.connections.resolvers.find import ENVIRONMENT, resolver, split
from ematix_flow.connections.resolvers.port import ResolverContext, Secret

# Wider than what redaction takes for a secret's name in any text: these are names that someone
# chose to put into a connection. A working directory and an author are none.
_SECRET_NAME = re.compile(
    r"pass|(?<!^)(?<!^old)pwd|secret|token|auth(?!or(?!i))|cred"
    r"|(?:api|access|private|account)[_-]?key",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretResolver:
    """Turns `${VAR}`, `${file:path}`, `${vault:path#key}` and the like into values.

    What comes from a store is fetched once; variables and files are read at each use.
    """

    environ: Mapping[str, str]
    base: Path = Path()
    _fetched: dict[str, Secret] = field(default_factory=dict, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def expand(self, text: str) -> str:
        """Return *text* with every reference replaced; a missing one is an error that names it."""
        return replaced(text, lambda body: self.fetch(body).value)

    def fetch(self, body: str) -> Secret:
        """Return what one reference stands for, known to redaction from now on."""
        prefix, rest = split(body)
        with self._lock:
            secret = self._fetched.get(body)
            if secret is None:
                context = ResolverContext(environ=self.environ, base=self.base)
                secret = resolver(prefix, context).fetch(rest)
            if prefix not in (ENVIRONMENT, "file"):
                self._fetched[body] = secret
        if secret.public:
            register_named(rest.partition(":-")[0], secret.value)
        else:
            register_secret(secret.value)
        return secret

    def register_property(self, name: str, text: str) -> None:
        """Register the secrets in and behind a connection's property, without resolving it.

        User code may print a variable before any connection uses it.
        """
        # `${DB_PASS}` itself is no secret: messages name it.
        register_named(name, replaced(text, lambda _: ""))
        for body in references(text):
            variable, _, default = body.partition(":-")
            if variable in self.environ:
                register_named(variable, self.environ[variable])
                register_named(name, self.environ[variable])
            register_named(variable, default)


def register_named(name: str, value: str) -> None:
    """Register what is secret in a variable or property: all of it, or a URL's password.

    A folder may come from the environment too; only what is named like a secret is one.
    """
    register_secrets_in(value)
    if _SECRET_NAME.search(name):
        register_secret(value)
