"""Finding a connection by name: keyword > environment > project TOML > home TOML > error."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ematix_flow.connections.environment import DSN, PREFIX, EnvironmentConnections, Found
from ematix_flow.connections.home import HOME_FILE, home_connections
from ematix_flow.connections.inline import ENVIRONMENT
from ematix_flow.connections.model import Connection
from ematix_flow.connections.resolvers.port import Secret
from ematix_flow.connections.secrets import SecretResolver
from ematix_flow.connections.variables import in_variables
from ematix_flow.errors import ConfigError, DeclarationError, FlowError, UnknownName


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """The one registry: every way to declare a connection is looked at, in a fixed order."""

    declared: Mapping[str, Connection]
    configured: Mapping[str, Mapping[str, Any]]
    configured_in: str
    environ: Mapping[str, str] = field(repr=False)
    base: Path
    home: Path
    _found: dict[str, Connection] = field(default_factory=dict, compare=False, repr=False)
    _fetched: dict[str, Secret] = field(default_factory=dict, compare=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)

    @property
    def secrets(self) -> SecretResolver:
        """The resolver of `${...}` for this project; what a store gave is asked for once."""
        return SecretResolver(
            environ=self.environ, base=self.base, _fetched=self._fetched, _lock=self._lock
        )

    def __getitem__(self, name: str) -> Connection:
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def resolved(self, name: str) -> Connection:
        """Return the connection with its `${...}` replaced, for use."""
        return self[name].resolved(self.secrets)

    def names(self) -> tuple[str, ...]:
        """Return every known name."""
        known = {*self.declared, *self.configured, *self._in_home()}
        spelt = {in_variables(name) for name in known}
        # A variable cannot tell shop-eu from shop_eu.
        known |= {each for each in self._environment.names() if in_variables(each) not in spelt}
        return tuple(sorted(known))

    def places(self, name: str) -> list[str]:
        """Return every place that describes *name*; the first one counts."""
        declared = [self.declared[name].origin or "code"] if name in self.declared else []
        return declared + [found.origin for found in self._described(name)]

    def register_secrets(self) -> None:
        """Make the secrets of every known connection known to redaction, used or not.

        What is written out where it should not be is warned about.
        """
        written: list[tuple[str, Found]] = [
            (name, Found(config=config, origin=self.configured_in))
            for name, config in self.configured.items()
        ]
        with suppress(ConfigError):  # told when a connection is looked for there
            written += [
                (name, Found(config=config, origin=self._home_file))
                for name, config in self._in_home().items()
            ]
        configs: list[Mapping[str, Any]] = [each.to_config() for each in self.declared.values()]
        configs += [found.config for _, found in written]
        configs += self._environment.configs()
        for config in filter(_is_table, configs):
            self._register(config)
        for name, found in written:
            with suppress(FlowError):  # told when it is used
                self._build(name, found)

    def _register(self, config: Mapping[str, Any]) -> None:
        for name, value in config.items():
            if isinstance(value, str):
                self.secrets.register_property(name, value)
            elif _is_table(value):
                self._register(value)

    def _find(self, name: str) -> Connection:
        if name in self.declared:
            return self.declared[name].based(self.base)
        for found in self._described(name):
            return self._build(name, found)
        raise UnknownName.among("connection", name, self.names(), hint=self._looked(name))

    def _described(self, name: str) -> Iterator[Found]:
        """Give what each place beside the code says of *name*, in order."""
        in_environment = self._environment.find(name)
        if in_environment is not None:
            yield in_environment
        if name in self.configured:
            yield Found(config=self.configured[name], origin=self.configured_in)
        home = self._in_home()
        if name in home:
            yield Found(config=home[name], origin=self._home_file)

    def _looked(self, name: str) -> str:
        """Say every place that was looked at; adding the name to any one of them will do."""
        spelt = in_variables(name)
        return (
            f"declare it in one of the places looked at: @ematix.connection or connect() in code; "
            f"{DSN}{spelt} or {PREFIX}<KIND>_{spelt}_<PROPERTY> in the environment; "
            f"[connections.{name}] in {self.configured_in} or ~/{HOME_FILE}"
        )

    def _build(self, name: str, found: Found) -> Connection:
        if not isinstance(found.config, Mapping):
            raise ConfigError(
                f"connection {name!r} takes a table of properties, "
                f"not {type(found.config).__name__}",
                where=found.origin,
                hint=f"write [connections.{name}] and its properties under it",
            )
        try:
            return Connection.from_config(name, found.config, origin=found.origin, base=self.base)
        except DeclarationError as error:
            if error.hint is None and found.origin.startswith(ENVIRONMENT):
                error.hint = self._hidden(name)
            raise

    def _hidden(self, name: str) -> str | None:
        """Say that the environment hides what a file describes in full."""
        others = self.places(name)[1:]
        if not others:
            return None
        return f"the environment describes the whole connection; {others[0]} is not looked at"

    @property
    def _environment(self) -> EnvironmentConnections:
        return EnvironmentConnections(self.environ)

    @property
    def _home_file(self) -> str:
        return str(self.home / HOME_FILE)

    def _in_home(self) -> Mapping[str, Mapping[str, Any]]:
        return home_connections(self.home)


def _is_table(config: object) -> bool:
    return isinstance(config, Mapping)
