"""Which engine runs the pipelines, and why.

The argument wins over `EMATIX_FLOW_ENGINE`, which wins over the pipeline's own `engine`, which
wins over the project's TOML; without any of them it is `local`. Going from one box to a cluster
is this one value, never code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Literal
from urllib.parse import unquote, urlsplit

from ematix_flow._base.location import Location
from ematix_flow._base.redact import redact, register_secret
from ematix_flow.errors import ConfigError, UnknownName, located
from ematix_flow.spec.pipeline import Pipeline

ENGINE_VARIABLE = "EMATIX_FLOW_ENGINE"
KNOWN = (
    "auto",
    "k8s://host:port",
    "local",
    "local[N]",
    "sail",
    "sc://host:port",
    "spark://host:port",
    "yarn",
)
DEFAULT_CONNECT_PORT = 15002

EngineKind = Literal["local", "master", "connect", "sail"]

_LOCAL = re.compile(r"local(\[(\*|[1-9]\d*)\])?")
_SECRET_PARAMETERS = ("token", "password", "x-api-key", "authorization")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """The engine to open. `address` may be printed; `target` may hold a token."""

    kind: EngineKind
    address: str
    why: str
    target: str = field(default="", repr=False)

    def to_json(self) -> dict[str, object]:
        """Return what may be shown."""
        return {"kind": self.kind, "address": self.address, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectAddress:
    """The parts of `sc://host:port/;key=value`."""

    host: str
    port: int
    parameters: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def printable(self) -> str:
        """Return the address without any parameter."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"sc://{host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What somebody asked for, and where a mistake in it is mended."""

    value: str
    why: str
    where: Location | str


def choose(
    argument: str | None,
    environ: Mapping[str, str],
    configured: str | None,
    *,
    pipeline: Pipeline | None = None,
    auto: Sequence[str] = (),
) -> EngineChoice:
    """Return the engine to use.

    :param argument: What the caller asked for (`--engine`).
    :param configured: `engine` of the project's TOML.
    :param pipeline: The pipeline that is to run there, whose own `engine` counts too.
    :param auto: The TOML's `auto` list: what `auto` may pick, in order.
    """
    asked = _asked(argument, environ, configured, pipeline)
    if asked.value == "auto":
        value, reason = _automatic(auto)
        return parse(value, why=f"{asked.why}; {reason}")
    with located(asked.where):
        return parse(asked.value, why=asked.why)


def parse(value: str, *, why: str) -> EngineChoice:
    """Turn one engine name or address into a choice, or say what was meant."""
    value = value.strip()
    if _LOCAL.fullmatch(value):
        address = "local[*]" if value == "local" else value
        return EngineChoice(kind="local", address=address, target=address, why=why)
    if value == "sail":
        return EngineChoice(kind="sail", address="sail", why=why)
    if value == "yarn":
        return EngineChoice(kind="master", address="yarn", target="yarn", why=why)
    if value.startswith("sc://"):
        printable = connect_address(value).printable
        return EngineChoice(kind="connect", address=printable, target=value, why=why)
    if value.startswith(("spark://", "k8s://")):
        if not value.partition("://")[2].strip("/"):
            raise ConfigError(f"engine {value!r} names no host")
        return EngineChoice(kind="master", address=redact(value), target=value, why=why)
    raise UnknownName.among("engine", redact(value), KNOWN)


def connect_address(url: str) -> ConnectAddress:
    """Split an `sc://` address; a token in it is a secret from here on."""
    parameters = tuple(_parameters(url))
    for name, secret in parameters:
        if name.casefold() in _SECRET_PARAMETERS:
            register_secret(secret)
    expected = "sc://host[:port][/;key=value...]"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"engine {redact(url)!r} is not {expected}: {error}") from None
    if not host:
        raise ConfigError(f"engine {redact(url)!r} names no host; expected {expected}")
    if parts.path.partition(";")[0] not in {"", "/"}:
        raise ConfigError(f"engine {redact(url)!r} has a path; expected {expected}")
    return ConnectAddress(host=host, port=port or DEFAULT_CONNECT_PORT, parameters=parameters)


def _parameters(url: str) -> list[tuple[str, str]]:
    pairs = (part.partition("=") for part in url.split(";")[1:] if part)
    return [(name.strip(), unquote(value)) for name, _, value in pairs]


def _asked(
    argument: str | None,
    environ: Mapping[str, str],
    configured: str | None,
    pipeline: Pipeline | None,
) -> _Asked:
    if argument:
        return _Asked(value=argument, why="asked for", where="asked for")
    if from_environment := environ.get(ENGINE_VARIABLE):
        why = f"{ENGINE_VARIABLE} is set"
        return _Asked(value=from_environment, why=why, where=why)
    if pipeline is not None and pipeline.engine:
        # Its address stands beside the reason, without the token that may be in it.
        why = "the pipeline's own engine"
        return _Asked(value=pipeline.engine, why=why, where=pipeline.location)
    if configured:
        why = "set in the project's TOML"
        return _Asked(value=configured, why=why, where=why)
    return _Asked(value="local", why="default", where="default")


def _automatic(auto: Sequence[str]) -> tuple[str, str]:
    for name in auto:
        if name not in {"sail", "local"}:
            raise UnknownName.among("engine in `auto`", name, ("sail", "local"))
    for name in auto:
        if name == "local":
            return "local", "auto: first in the project's list that is installed"
        if find_spec("pysail") is not None:
            return "sail", "auto: first in the project's list that is installed"
    return "local", "auto: nothing else is configured"
