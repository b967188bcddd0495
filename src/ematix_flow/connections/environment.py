"""Connections in environment variables.

`EMATIX_FLOW_DSN_<NAME>` is a URL; `EMATIX_FLOW_<KIND>_<NAME>_<PROPERTY>` is one property.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ematix_flow._base.suggest import nearest
from ematix_flow.connections.inline import ENVIRONMENT
from ematix_flow.connections.model import KINDS, property_names
from ematix_flow.connections.model.property import properties_of
from ematix_flow.connections.model.values import from_text
from ematix_flow.connections.reference import has_reference
from ematix_flow.connections.variables import in_variables
from ematix_flow.errors import ConfigError

PREFIX = "EMATIX_FLOW_"
DSN = f"{PREFIX}DSN_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a place says of a connection."""

    config: Mapping[str, Any]
    origin: str


@dataclass(frozen=True, slots=True)
class EnvironmentConnections:
    """The connections that variables describe."""

    environ: Mapping[str, str]

    def find(self, name: str) -> Found | None:
        """Return what the variables say of *name*, as text read to each property's type."""
        dsn = f"{DSN}{in_variables(name)}"
        by_kind = {kind: found for kind in KINDS if (found := self._properties(kind, name))}
        if dsn in self.environ:
            return self._with_url(name, dsn, by_kind)
        if len(by_kind) > 1:
            raise ConfigError(
                f"connection {name!r} is of two kinds in the environment: {', '.join(by_kind)}",
                hint=f"unset the variables {self._pattern(next(iter(by_kind)), name)}",
            )
        for kind, config in by_kind.items():
            return Found(
                config={"kind": kind, **config},
                origin=f"{ENVIRONMENT} variables {self._pattern(kind, name)}",
            )
        return None

    def names(self) -> set[str]:
        """Return the names of every connection that a variable describes."""
        dsns = {each.removeprefix(DSN).lower() for each in self.environ if each.startswith(DSN)}
        return dsns | {name for name, _, _ in self._each_property()}

    def configs(self) -> Iterator[dict[str, str]]:
        """Give every property of any connection that a variable sets."""
        for variable, value in self.environ.items():
            if variable.startswith(DSN):
                yield {"dsn": value}
        for _, key, value in self._each_property():
            yield {key: value}

    def _with_url(self, name: str, dsn: str, by_kind: Mapping[str, dict[str, Any]]) -> Found:
        url = self.environ[dsn]
        scheme = url.partition("://")[0].lower()
        config: dict[str, Any] = {"url": url}
        for kind, beside in by_kind.items():
            taken = (*KINDS[kind].schemes, *KINDS[kind].other_schemes)
            if "kind" in config or not (scheme in taken or has_reference(scheme)):
                raise ConfigError(
                    f"connection {name!r} is of two kinds in the environment: what {dsn} says, "
                    f"and {', '.join(by_kind)}",
                    hint=f"unset the variables {self._pattern(kind, name)}",
                )
            config |= {"kind": kind, **beside}
        return Found(config=config, origin=f"{ENVIRONMENT} variable {dsn}")

    def _properties(self, kind: str, name: str) -> dict[str, Any]:
        known = property_names(kind)
        head = self._pattern(kind, name)[:-1]
        found: dict[str, Any] = {}
        for variable, value in self.environ.items():
            if not variable.startswith(head):
                continue
            key = variable.removeprefix(head).lower()
            # SHOP_ARCHIVE_PATH is the path of shop_archive, not a property of shop.
            is_another = key.endswith(tuple(f"_{each}" for each in known))
            # A misspelt one is kept: building the connection says what was meant.
            if key in known or (not is_another and nearest(key, known)):
                found[key] = _value(kind, key, value)
        return found

    def _each_property(self) -> Iterator[tuple[str, str, str]]:
        """Give the name, the property and the text of every variable that sets one."""
        for variable, value in self.environ.items():
            kind = next((each for each in KINDS if variable.startswith(_head(each))), None)
            if kind is None:
                continue
            rest = variable.removeprefix(_head(kind)).lower()
            ends = [key for key in property_names(kind) if rest.endswith(f"_{key}")]
            if ends:
                key = max(ends, key=len)
                yield rest.removesuffix(f"_{key}"), key, value

    @staticmethod
    def _pattern(kind: str, name: str) -> str:
        return f"{_head(kind)}{in_variables(name)}_*"


def _head(kind: str) -> str:
    return f"{PREFIX}{kind.upper()}_"


def _value(kind: str, key: str, text: str) -> Any:
    model = KINDS[kind]
    known = properties_of(model)
    name = model.aliases.get(key, key)
    return from_text(known[name], text) if name in known else text
