"""The cache of connector jars: fetched once, verified always, never half-written."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ematix_flow.engine.host.cache import CACHE_VARIABLE, cache_directory
from ematix_flow.engine.host.java import Java, find_java
from ematix_flow.engine.jars.ivy import fetch_with_ivy
from ematix_flow.engine.jars.lock import JarLock, LockedJar, shipped_lock
from ematix_flow.errors import JarError

Fetch = Callable[[Sequence[LockedJar], Path, Java], None]
State = Literal["ready", "missing", "corrupt"]

EXTENSIONS = "spark.sql.extensions"


@dataclass(frozen=True, slots=True, kw_only=True)
class JarState:
    """How one jar of the lock stands in the cache."""

    coordinates: str
    connectors: tuple[str, ...]
    path: Path
    state: State
    size: int | None

    def to_json(self) -> dict[str, object]:
        """Return it as `flow jars list --format json` prints it."""
        return {
            "coordinates": self.coordinates,
            "connectors": list(self.connectors),
            "path": str(self.path),
            "state": self.state,
            "size": self.size,
        }


class JarCache:
    """Jars by their coordinates, below one directory that processes share."""

    def __init__(
        self,
        directory: Path | None = None,
        *,
        lock: JarLock | None = None,
        fetch: Fetch = fetch_with_ivy,
    ) -> None:
        """
        :param directory: Where the jars lie; the user's cache when not given.
        :param fetch: Puts jars into a directory; tests hand in one without a network.
        """
        self.directory = directory or cache_directory() / "jars"
        self.lock = lock or shipped_lock()
        self._fetch = fetch

    def path(self, jar: LockedJar) -> Path:
        """Return where *jar* is, or would be."""
        return self.directory / jar.file_name

    def conf(self, connectors: Sequence[str]) -> dict[str, str]:
        """Return the Spark conf these connectors need when Spark starts."""
        conf: dict[str, str] = {}
        for name in connectors:
            for key, value in self.lock.connector(name).conf:
                both = key == EXTENSIONS and key in conf
                conf[key] = f"{conf[key]},{value}" if both else value
        return conf

    def ensure(self, connectors: Sequence[str], *, java: Java | None = None) -> tuple[Path, ...]:
        """Return the paths of all jars of *connectors*, fetching what is missing or corrupt."""
        jars = self.lock.jars(connectors)
        if any(self._state(jar) != "ready" for jar in jars):
            self._bring(jars, java)
        return tuple(self.path(jar) for jar in jars)

    def list(self, connectors: Sequence[str] = ()) -> tuple[JarState, ...]:
        """Return the state of every jar (of *connectors*, or of all), hashes checked."""
        names = tuple(connectors) or tuple(self.lock.connectors)
        return tuple(self._described(jar) for jar in self.lock.jars(names))

    def fetch(
        self, connectors: Sequence[str] = (), *, force: bool = False, java: Java | None = None
    ) -> tuple[JarState, ...]:
        """Bring the jars of *connectors* (or of all) into the cache.

        :param force: Fetch anew even what is there and right.
        """
        names = tuple(connectors) or tuple(self.lock.connectors)
        self._bring(self.lock.jars(names), java, force=force)
        return self.list(names)

    def verify(self, connectors: Sequence[str] = ()) -> tuple[JarState, ...]:
        """Return the jars in the cache, or raise `JarError` naming the corrupt ones."""
        present = tuple(jar for jar in self.list(connectors) if jar.state != "missing")
        corrupt = [jar for jar in present if jar.state == "corrupt"]
        if corrupt:
            names = ", ".join(jar.coordinates for jar in corrupt)
            raise JarError(
                f"corrupt in {self.directory}: {names} (SHA-256 differs from the lock)",
                hint="flow jars fetch --force " + " ".join(_connectors_of(corrupt)),
            )
        return present

    def _bring(self, jars: Sequence[LockedJar], java: Java | None, *, force: bool = False) -> None:
        with self._locked(jars):
            # Looked at again under the lock: another process may just have fetched them.
            wanted = [jar for jar in jars if force or self._state(jar) != "ready"]
            if not wanted:
                return
            with tempfile.TemporaryDirectory(prefix=".fetch-", dir=self.directory) as directory:
                self._fetch(wanted, Path(directory), java or find_java())
                for jar in wanted:
                    self._accept(jar, Path(directory) / jar.file_name)

    def _accept(self, jar: LockedJar, fetched: Path) -> None:
        found = _sha256(fetched)
        if found != jar.sha256:
            raise JarError(
                f"{jar.coordinates} was fetched but is not the jar of the lock "
                f"(SHA-256 {found or 'of nothing'}, expected {jar.sha256})",
                hint="the mirror or a proxy altered it; nothing was kept",
            )
        fetched.replace(self.path(jar))

    @contextmanager
    def _locked(self, jars: Sequence[LockedJar]) -> Iterator[None]:
        from filelock import FileLock

        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.directory / ".lock")
            lock.acquire()
        except OSError as error:
            raise self._unwritable(jars, error) from error
        try:
            yield
        except OSError as error:
            raise self._unwritable(jars, error) from error
        finally:
            lock.release()

    def _unwritable(self, jars: Sequence[LockedJar], error: OSError) -> JarError:
        names = ", ".join(jar.coordinates for jar in jars)
        return JarError(
            f"cannot keep {names} in {self.directory}: {error.strerror or error}",
            hint=f"set {CACHE_VARIABLE} to a directory you can write to",
        )

    def _state(self, jar: LockedJar) -> State:
        found = _sha256(self.path(jar))
        if found is None:
            return "missing"
        return "ready" if found == jar.sha256 else "corrupt"

    def _described(self, jar: LockedJar) -> JarState:
        path, state = self.path(jar), self._state(jar)
        users = (entry.name for entry in self.lock.connectors.values() if jar in entry.jars)
        size = None if state == "missing" else path.stat().st_size
        return JarState(
            coordinates=jar.coordinates,
            connectors=tuple(users),
            path=path,
            state=state,
            size=size,
        )


def _connectors_of(jars: Sequence[JarState]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for jar in jars for name in jar.connectors))


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return None
