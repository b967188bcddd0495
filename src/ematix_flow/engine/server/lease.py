"""Use the warm server for one run, and heal what is wrong with it on the way.

A run never fails because of the server's state: at worst it embeds its own
Spark, and says why. A server with work is never stopped for another run.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from pathlib import Path

from ematix_flow.engine.server.control import hold
from ematix_flow.engine.server.files import ServerFiles, ServerState
from ematix_flow.engine.server.server import make_way, spawn
from ematix_flow.engine.server.status import ServerStatus, look
from ematix_flow.engine.server.wanted import SparkNeeds
from ematix_flow.errors import FlowError


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to use the server until `close`."""

    address: str
    url: str = field(repr=False)
    connection: socket.socket = field(repr=False)

    def close(self) -> None:
        """Give the server back."""
        self.connection.close()


def use(state_dir: Path, wanted: SparkNeeds) -> tuple[Lease | None, tuple[str, ...]]:
    """Return a lease on a server that suits, or None; and notes on what was found or healed."""
    files = ServerFiles(state_dir.absolute())
    state = files.read()
    if state is None:
        return None, ()
    lease, trouble = _hold(state, wanted)
    if lease is not None:
        return lease, ()
    try:
        return _heal(files, wanted, trouble)
    except (FlowError, OSError) as error:
        return None, (f"{trouble} ({error})",)


def _heal(
    files: ServerFiles, wanted: SparkNeeds, trouble: str
) -> tuple[Lease | None, tuple[str, ...]]:
    with files.locked():
        state = files.read()
        if state is None:
            return None, (trouble,)
        now = look(files, state, wanted)
        match now.standing:
            case "stale":
                files.forget(state)
                return None, (f"the warm server (pid {state.pid}) is gone; its state was removed",)
            case "up" if now.stopping:
                return None, (trouble,)
            case "up" if now.differences and not now.busy:
                return _replace(files, state, now, wanted)
            case "up" if now.differences:
                return None, (f"the warm server is busy and does not suit: {now.differences[0]}",)
            case _:
                return None, (trouble,)


def _replace(
    files: ServerFiles, state: ServerState, now: ServerStatus, wanted: SparkNeeds
) -> tuple[Lease | None, tuple[str, ...]]:
    """Start an idle server anew, with what it had and what this run needs."""
    reason = now.differences[0]
    try:
        make_way(files, state, now)
        spawn(files, wanted.with_more(state.connectors), state.idle_minutes)
    except FlowError as error:
        return None, (f"the warm server does not suit ({reason}) and was not restarted: {error}",)
    fresh = files.read()
    lease, trouble = _hold(fresh, wanted) if fresh else (None, "the warm server left")
    return lease, (f"the warm server was restarted: {reason}",) if lease else (trouble,)


def _hold(state: ServerState, wanted: SparkNeeds) -> tuple[Lease | None, str]:
    try:
        answer, connection = hold(state.socket)
    except OSError as error:
        return None, f"the warm server (pid {state.pid}) does not answer: {error}"
    differences = state.fingerprint.differences(wanted.fingerprint())
    if not answer.get("ok") or differences or answer.get("pid") != state.pid:
        connection.close()
        reason = differences[0] if differences else answer.get("reason") or "its state changed"
        return None, f"the warm server was not used: {reason}"
    address = f"sc://localhost:{answer['port']}"
    return Lease(address=address, url=f"{address}/;token={state.token}", connection=connection), ""
