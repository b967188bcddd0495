"""What the warm server leaves on disk, for its owner's eyes only.

`server.json` says where a server is; the server itself is the authority, so
everything read here is a claim to be checked over the control socket.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ematix_flow._base.files import PRIVATE_FILE, private_directory, write_whole
from ematix_flow._base.redact import register_secret
from ematix_flow.engine.server.fingerprint import Fingerprint
from ematix_flow.errors import EngineError

_SOCKET_PREFIX = "ematix-flow-"
_LONGEST_SOCKET_PATH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """The claim of a running server.

    :param born: When its process started, in the kernel's words: pids are used again.
    :param nonce: Tells this server from every other one.
    """

    pid: int
    born: str
    nonce: str
    port: int
    socket: Path
    fingerprint: Fingerprint
    connectors: tuple[str, ...]
    started_at: str
    idle_minutes: float
    token: str = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return it as it is stored."""
        return {**asdict(self), "socket": str(self.socket)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ServerState:
        """Read what `to_json` wrote, and keep its token out of every output."""
        token = str(data["token"])
        register_secret(token)
        return cls(
            pid=int(data["pid"]),
            born=str(data["born"]),
            nonce=str(data["nonce"]),
            port=int(data["port"]),
            socket=Path(data["socket"]),
            fingerprint=Fingerprint.from_json(data["fingerprint"]),
            connectors=tuple(data["connectors"]),
            started_at=str(data["started_at"]),
            idle_minutes=float(data["idle_minutes"]),
            token=token,
        )

    @property
    def there(self) -> bool:
        """Tell whether the server's process is there."""
        return alive(self.pid) and self.born == born(self.pid)

    def is_same(self, other: ServerState) -> bool:
        """Tell whether both are claims of one server."""
        return (self.pid, self.nonce) == (other.pid, other.nonce)


@dataclass(frozen=True, slots=True)
class ServerFiles:
    """The files of one project's server, below its `.ematix-flow`."""

    state_dir: Path

    @property
    def directory(self) -> Path:
        """Return the private directory they are in."""
        return self.state_dir / "engine"

    @property
    def log(self) -> Path:
        """Return the server's log."""
        return self.state_dir / "logs" / "server.log"

    @property
    def _state(self) -> Path:
        return self.directory / "server.json"

    def create(self) -> None:
        """Make the directory, readable by its owner alone."""
        try:
            private_directory(self.directory)
        except OSError as error:
            raise EngineError(
                f"cannot write to {self.directory}: {error.strerror or error}"
            ) from error

    def read(self) -> ServerState | None:
        """Return the claim, or None when there is none that can be read."""
        try:
            return ServerState.from_json(json.loads(self._state.read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, state: ServerState) -> None:
        """Publish the claim; from here on runs can find the server."""
        write_whole(self._state, json.dumps(state.to_json()).encode(), mode=PRIVATE_FILE)

    def forget(self, state: ServerState) -> None:
        """Remove what the server of *state* left behind; another one's claim stays."""
        current = self.read()
        if current is not None and current.is_same(state):
            with suppress(FileNotFoundError):
                self._state.unlink()
        remove_socket_directory(state.socket)

    def lost(self, state: ServerState) -> bool:
        """Tell whether nobody can find the server of *state* any more."""
        try:
            self._state.stat()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        current = self.read()  # one that cannot be read just now is no proof
        return current is not None and not current.is_same(state)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let one process at a time start, stop or clean up."""
        from filelock import FileLock

        self.create()
        with FileLock(self.directory / "lock"):
            yield


def socket_path() -> Path:
    """Return a path for a control socket: private, and short (macOS allows 104 bytes)."""
    path = Path(tempfile.mkdtemp(prefix=_SOCKET_PREFIX)) / "control"
    if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
        return path
    remove_socket_directory(path)
    return Path(tempfile.mkdtemp(prefix=_SOCKET_PREFIX, dir="/tmp")) / "control"


def remove_socket_directory(socket: Path) -> None:
    """Remove the directory `socket_path` made, and nothing else."""
    if socket.name == "control" and socket.parent.name.startswith(_SOCKET_PREFIX):
        shutil.rmtree(socket.parent, ignore_errors=True)


def alive(pid: int) -> bool:
    """Tell whether a process is there and not just waiting to be reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _stat(pid)[:1] != ["Z"]


def born(pid: int) -> str:
    """Return when a process started, in a form to compare; "" where the system does not say."""
    return "".join(_stat(pid)[19:20])


def _stat(pid: int) -> list[str]:
    """Return what follows the name in the kernel's line on a process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []  # no /proc here (macOS), or the process is gone
