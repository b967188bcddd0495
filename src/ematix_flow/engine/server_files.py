"""What the warm server leaves on disk, for its owner's eyes only.

`server.json` says where a server is; the server itself is the authority, so
everything read here is a claim to be checked over the control socket.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ematix_flow._base.files import PRIVATE_FILE, private_directory, write_whole
from ematix_flow._base.redact import register_secret
from ematix_flow.engine.fingerprint import Fingerprint
from ematix_flow.errors import EngineError

_SOCKET_PREFIX = "ematix-flow-"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """The claim of a running server."""

    pid: int
    port: int
    socket: Path
    fingerprint: Fingerprint
    connectors: tuple[str, ...]
    started_at: str
    idle_minutes: float

    def to_json(self) -> dict[str, Any]:
        """Return it as it is stored."""
        return {
            "pid": self.pid,
            "port": self.port,
            "socket": str(self.socket),
            "fingerprint": self.fingerprint.to_json(),
            "connectors": list(self.connectors),
            "started_at": self.started_at,
            "idle_minutes": self.idle_minutes,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ServerState:
        """Read what `to_json` wrote."""
        return cls(
            pid=int(data["pid"]),
            port=int(data["port"]),
            socket=Path(data["socket"]),
            fingerprint=Fingerprint.from_json(data["fingerprint"]),
            connectors=tuple(data["connectors"]),
            started_at=str(data["started_at"]),
            idle_minutes=float(data["idle_minutes"]),
        )


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
    def launch(self) -> Path:
        """Return what the supervisor is told at its start."""
        return self.directory / "launch.json"

    @property
    def _state(self) -> Path:
        return self.directory / "server.json"

    @property
    def _token(self) -> Path:
        return self.directory / "token"

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

    def write_launch(self, launch: dict[str, Any]) -> None:
        """Leave word for a supervisor that is about to start."""
        write_whole(self.launch, json.dumps(launch).encode(), mode=PRIVATE_FILE)

    def forget(self, state: ServerState) -> None:
        """Remove what the server of *state* left behind, unless another one replaced it."""
        current = self.read()
        if current is not None and (current.pid, current.socket) != (state.pid, state.socket):
            return
        for path in (self._state, self._token, self.launch):
            with suppress(FileNotFoundError):
                path.unlink()
        remove_socket_directory(state.socket)

    def new_token(self) -> str:
        """Make and store a fresh token, and keep it out of every output."""
        token = secrets.token_hex(32)
        register_secret(token)
        write_whole(self._token, token.encode(), mode=PRIVATE_FILE)
        return token

    def token(self) -> str | None:
        """Return the stored token."""
        try:
            token = self._token.read_text("utf-8").strip()
        except OSError:
            return None
        register_secret(token)
        return token

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let one process at a time start, stop or clean up."""
        from filelock import FileLock

        self.create()
        with FileLock(self.directory / "lock"):
            yield


def socket_path() -> Path:
    """Return a path for a control socket: short (108 bytes is the limit) and private."""
    return Path(tempfile.mkdtemp(prefix=_SOCKET_PREFIX)) / "control"


def remove_socket_directory(socket: Path) -> None:
    """Remove the directory `socket_path` made, and nothing else."""
    if socket.name == "control" and socket.parent.name.startswith(_SOCKET_PREFIX):
        shutil.rmtree(socket.parent, ignore_errors=True)


def alive(pid: int) -> bool:
    """Say whether a process is there and not just waiting to be reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True  # no /proc here (macOS), or gone between the two looks
    return stat.rpartition(")")[2].split()[:1] != ["Z"]
