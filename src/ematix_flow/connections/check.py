"""Checking a connection: its secrets resolve, and what it names answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ematix_flow.connections.kinds import comes_later
from ematix_flow.connections.load import Connections
from ematix_flow.connections.model import (
    Connection,
    DatabaseFileConnection,
    MemoryConnection,
    PathConnection,
)
from ematix_flow.connections.reach import reach
from ematix_flow.errors import FlowError, SourceMissing
from ematix_flow.observe.check import Check, Health

Probe = Callable[[Connection], str]
"""Opens a resolved connection and says what it found; a FlowError if it cannot."""


def check_connection(name: str, connections: Connections, probes: Mapping[str, Probe]) -> Check:
    """Resolve the connection and reach it: by its backend, else by plain means."""
    try:
        connection = connections.resolved(name)
        if connection.kind not in probes:
            return _reached(name, connection)
        found = _files(connection) or probes[connection.kind](connection)
        return Check(name=name, health=Health.OK, finding=f"{connection.kind}: {found}")
    except SourceMissing as error:
        return _missing(name, connection, error)
    except FlowError as error:
        return Check(name=name, health=Health.PROBLEM, finding=error.what, hint=error.hint)


def _files(connection: Connection) -> str | None:
    """Say what files are there; a backend can only be asked for one table of them."""
    if isinstance(connection, DatabaseFileConnection) or not isinstance(connection, PathConnection):
        return None
    return reach(connection) or "its secrets resolve; it was not reached"


def _reached(name: str, connection: Connection) -> Check:
    later = f"model only: reading and writing kind {connection.kind!r} comes later"
    found = reach(connection) or "its secrets resolve; it was not reached"
    return Check(
        name=name,
        health=Health.NOTE,
        finding=f"{connection.kind}: {found}; {later}",
        hint=comes_later(connection.kind).hint,
    )


def _missing(name: str, connection: Connection, error: SourceMissing) -> Check:
    """A database in a file or in memory may be made by the first run; others have to be there."""
    made = isinstance(connection, MemoryConnection) or (
        isinstance(connection, DatabaseFileConnection) and connection.location.parent.is_dir()
    )
    if made:
        finding = f"{connection.kind}: {error.what}; the first run that writes there makes it"
        return Check(name=name, health=Health.NOTE, finding=finding)
    return Check(name=name, health=Health.PROBLEM, finding=error.what, hint=error.hint)
