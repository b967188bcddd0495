"""How the warm server stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ematix_flow.engine.server.control import ask
from ematix_flow.engine.server.files import ServerFiles, ServerState
from ematix_flow.engine.server.wanted import SparkNeeds

Standing = Literal["up", "down", "stale", "unresponsive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """How the server stands."""

    standing: Standing
    stopping: bool = False
    pid: int | None = None
    address: str | None = None
    started_at: str | None = None
    leases: int = 0
    active: int = 0
    idle_seconds: float = 0.0
    idle_minutes: float | None = None
    connectors: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    log: str = ""

    @property
    def busy(self) -> bool:
        """Tell whether somebody works on it."""
        return bool(self.leases or self.active)

    def to_json(self) -> dict[str, object]:
        """Return it as `flow engine status --format json` prints it."""
        return {
            "standing": self.standing,
            "stopping": self.stopping,
            "pid": self.pid,
            "address": self.address,
            "started_at": self.started_at,
            "leases": self.leases,
            "active": self.active,
            "idle_seconds": self.idle_seconds,
            "idle_minutes": self.idle_minutes,
            "connectors": list(self.connectors),
            "differences": list(self.differences),
            "log": self.log,
        }


def look(files: ServerFiles, state: ServerState, wanted: SparkNeeds | None) -> ServerStatus:
    """Ask the server of *state*, and say what about it does not suit *wanted*."""
    known: dict[str, Any] = {
        "pid": state.pid,
        "address": f"sc://localhost:{state.port}",
        "started_at": state.started_at,
        "idle_minutes": state.idle_minutes,
        "connectors": state.connectors,
        "log": str(files.log),
    }
    try:
        answer = ask(state.socket, "status")
    except OSError:
        standing: Standing = "unresponsive" if state.there else "stale"
        return ServerStatus(standing=standing, **known)
    differences: tuple[str, ...] = ()
    if wanted is not None:
        differences = state.fingerprint.differences(wanted.fingerprint())
    return ServerStatus(
        standing="up",
        stopping=bool(answer.get("stopping")),
        leases=int(answer.get("leases", 0)),
        active=int(answer.get("active", 0)),
        idle_seconds=float(answer.get("idle_seconds", 0.0)),
        differences=differences,
        **known,
    )
