"""Finding a connection by name: keyword > environment > project TOML > home TOML > error."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ematix_flow._base.suggest import nearest
from ematix_flow.connections.model import KINDS, Connection, property_names
from ematix_flow.connections.secrets import SecretResolver
from ematix_flow.errors import ConfigError, UnknownName

HOME_FILE = Path(".ematix-flow") / "connections.toml"
_DSN = "EMATIX_FLOW_DSN_"
_PREFIX = "EMATIX_FLOW_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """The one registry: every way to declare a connection is looked at, in a fixed order."""

    declared: Mapping[str, Connection]
    configured: Mapping[str, Mapping[str, Any]]
    configured_in: str
    environ: Mapping[str, str]
    base: Path
    home: Path
    _found: dict[str, Connection] = field(default_factory=dict, compare=False, repr=False)

    @property
    def secrets(self) -> SecretResolver:
        """The resolver of `${...}` for this project."""
        return SecretResolver(environ=self.environ, base=self.base)

    def __getitem__(self, name: str) -> Connection:
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def register_secrets(self) -> None:
        """Make the secrets of every known connection known to redaction, used or not."""
        configs: list[Mapping[str, Any]] = [each.to_config() for each in self.declared.values()]
        configs += [*self.configured.values(), *self._in_environment()]
        with suppress(ConfigError):  # told when a connection is looked for there
            configs += self._from_home().values()
        for config in filter(_is_table, configs):
            for name, value in config.items():
                if isinstance(value, str):
                    self.secrets.register_property(name, value)

    def resolved(self, name: str) -> Connection:
        """Return the connection with its `${...}` replaced, for use."""
        return self[name].resolved(self.secrets)

    def names(self) -> tuple[str, ...]:
        """Return every known name."""
        in_environment = {
            key.removeprefix(_DSN).lower() for key in self.environ if key.startswith(_DSN)
        }
        known = {*self.declared, *self.configured, *self._from_home(), *in_environment}
        return tuple(sorted(known))

    def _find(self, name: str) -> Connection:
        if name in self.declared:
            return dataclasses.replace(self.declared[name], base=self.base)
        if (config := self._from_environment(name)) is not None:
            return self._build(name, config, "the environment")
        if name in self.configured:
            return self._build(name, self.configured[name], self.configured_in)
        home = self._from_home()
        if name in home:
            return self._build(name, home[name], str(self.home / HOME_FILE))
        raise UnknownName.among(
            "connection",
            name,
            self.names(),
            hint=(
                f"declare it with @ematix.connection, set {_DSN}{name.upper()}, "
                f"or add [connections.{name}] to {self.configured_in} or ~/{HOME_FILE}"
            ),
        )

    def _build(self, name: str, config: Mapping[str, Any], origin: str) -> Connection:
        if not isinstance(config, Mapping):
            raise ConfigError(
                f"connection {name!r} takes a table of properties, not {type(config).__name__}",
                where=origin,
                hint=f"write [connections.{name}] and its properties under it",
            )
        return Connection.from_config(name, config, origin=origin, base=self.base)

    def _from_environment(self, name: str) -> dict[str, Any] | None:
        url = self.environ.get(f"{_DSN}{name.upper()}")
        if url is not None:
            return {"url": url}
        for kind in KINDS:
            found = self._properties_in_environment(kind, name)
            if found:
                return {"kind": kind, **found}
        return None

    def _properties_in_environment(self, kind: str, name: str) -> dict[str, str]:
        known = property_names(kind)
        head = f"{_PREFIX}{kind.upper()}_{name.upper()}_"
        found: dict[str, str] = {}
        for variable, value in self.environ.items():
            if not variable.startswith(head):
                continue
            key = variable.removeprefix(head).lower()
            # SHOP_ARCHIVE_PATH is the path of shop_archive, not a property of shop.
            is_another = key.endswith(tuple(f"_{each}" for each in known))
            # A misspelt one is kept: building the connection says what was meant.
            if key in known or (not is_another and nearest(key, known)):
                found[key] = value
        return found

    def _in_environment(self) -> Iterator[dict[str, str]]:
        """Give every property of any connection that a variable sets."""
        for variable, value in self.environ.items():
            if variable.startswith(_DSN):
                yield {"dsn": value}
            for kind in KINDS:
                if variable.startswith(f"{_PREFIX}{kind.upper()}_"):
                    lower = variable.lower()
                    names = (key for key in property_names(kind) if lower.endswith(f"_{key}"))
                    yield dict.fromkeys(names, value)

    def _from_home(self) -> Mapping[str, Mapping[str, Any]]:
        file = self.home / HOME_FILE
        if not file.is_file():
            return {}
        try:
            content = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"not valid TOML: {error}", where=str(file)) from error
        except OSError as error:
            raise ConfigError(f"cannot be read: {error.strerror}", where=str(file)) from error
        found = content.get("connections", content)
        return found if isinstance(found, dict) else {}


def _is_table(config: object) -> bool:
    return isinstance(config, Mapping)
