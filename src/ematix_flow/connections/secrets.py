"""`${...}` in a connection, resolved late: when it is used, never when it is declared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ematix_flow._base.redact import register_secret, register_secrets_in
from ematix_flow.errors import ConfigError

_REFERENCE = re.compile(r"\$\{(?P<body>[^}]*)\}")
# Wider than what redaction takes for a secret's name in any text: these are names that someone
# chose to put into a connection. A working directory and an author are none.
_SECRET_NAME = re.compile(
    r"pass|(?<!^)(?<!^old)pwd|secret|token|auth(?!or(?!i))|cred"
    r"|(?:api|access|private|account)[_-]?key",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretResolver:
    """Turns `${VAR}`, `${VAR:-default}` and `${file:path}` into values."""

    environ: Mapping[str, str]
    base: Path = Path()

    def expand(self, text: str) -> str:
        """Return *text* with every reference replaced; a missing one is an error that names it."""
        return _REFERENCE.sub(lambda match: self._value(match["body"]), text)

    def register_property(self, name: str, text: str) -> None:
        """Register the secrets in and behind a connection's property, without resolving it.

        User code may print a variable before any connection uses it.
        """
        # `${DB_PASS}` itself is no secret: messages name it.
        register_named(name, _REFERENCE.sub("", text))
        for match in _REFERENCE.finditer(text):
            variable = match["body"].partition(":-")[0]
            if variable in self.environ:
                register_named(variable, self.environ[variable])

    def _value(self, body: str) -> str:
        if body.startswith("file:"):
            return self._from_file(body.removeprefix("file:"))
        name, has_default, default = body.partition(":-")
        value = self.environ.get(name)
        if value is None:
            if has_default:
                return default
            raise ConfigError(
                f"${{{name}}} is used in a connection, but the variable {name} is not set",
                hint=f"export {name}=..., or give a default: ${{{name}:-...}}",
            )
        register_named(name, value)
        return value

    def _from_file(self, path: str) -> str:
        file = self.base / Path(path).expanduser()
        try:
            value = file.read_text(encoding="utf-8").rstrip("\r\n")
        except OSError as error:
            raise ConfigError(
                f"${{file:{path}}} cannot be read: {error.strerror}", where=str(file)
            ) from error
        register_secret(value)
        return value


def register_named(name: str, value: str) -> None:
    """Register what is secret in a variable or property: all of it, or a URL's password.

    A folder may come from the environment too; only what is named like a secret is one.
    """
    register_secrets_in(value)
    if _SECRET_NAME.search(name):
        register_secret(value)
