"""The lock file of JVM connectors: which jars, and the SHA-256 each must have.

No resolver guesses at start-up: a connector is an exact list of jars, so the
same project loads the same bytes everywhere.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from ematix_flow.errors import JarError, UnknownName

LOCK_FILE = "jars.lock.toml"
_SHA256_LENGTH = 64


@dataclass(frozen=True, slots=True, order=True)
class LockedJar:
    """One jar, by its Maven coordinates (`group:artifact:version[:classifier]`)."""

    coordinates: str
    sha256: str

    @property
    def parts(self) -> tuple[str, str, str, str]:
        """Return group, artifact, version and classifier (which may be empty)."""
        group, artifact, version, *classifier = self.coordinates.split(":")
        return group, artifact, version, classifier[0] if classifier else ""

    @property
    def file_name(self) -> str:
        """Return its name in the cache; two groups may use one artifact name."""
        group, artifact, version, classifier = self.parts
        return f"{group}_{artifact}-{version}{'-' + classifier if classifier else ''}.jar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """What Spark needs to speak with one kind of system."""

    name: str
    about: str
    jars: tuple[LockedJar, ...]
    conf: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JarLock:
    """All connectors, by name."""

    spark: str
    connectors: dict[str, Connector] = field(default_factory=dict)

    def connector(self, name: str) -> Connector:
        """Return the connector called *name*."""
        try:
            return self.connectors[name]
        except KeyError:
            raise UnknownName.among("connector", name, self.connectors) from None

    def jars(self, names: Iterable[str]) -> tuple[LockedJar, ...]:
        """Return the jars of these connectors, each once, in the order of the lock."""
        found = (jar for name in names for jar in self.connector(name).jars)
        return tuple(dict.fromkeys(found))


def parse_lock(text: str) -> JarLock:
    """Read a lock file; every mistake in it is a `JarError` that names the entry."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise JarError(f"{LOCK_FILE} is not valid TOML: {error}") from None
    hashes = data.get("sha256", {})
    connectors = {
        name: Connector(
            name=name,
            about=entry.get("about", ""),
            jars=tuple(_jar(coordinates, hashes, name) for coordinates in entry.get("jars", ())),
            conf=tuple(entry.get("conf", {}).items()),
        )
        for name, entry in data.get("connectors", {}).items()
    }
    return JarLock(spark=data.get("spark", ""), connectors=connectors)


@cache
def shipped_lock() -> JarLock:
    """Return the lock that comes with this version."""
    return parse_lock(files("ematix_flow.engine.jars").joinpath(LOCK_FILE).read_text("utf-8"))


def _jar(coordinates: str, hashes: dict[str, str], connector: str) -> LockedJar:
    sha256 = hashes.get(coordinates, "")
    if len(sha256) != _SHA256_LENGTH or coordinates.count(":") not in {2, 3}:
        raise JarError(f"{LOCK_FILE}: connector {connector!r} has no SHA-256 for {coordinates!r}")
    return LockedJar(coordinates, sha256)
