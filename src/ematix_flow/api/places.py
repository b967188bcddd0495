"""Where rows come from and go to: connections, opened by the backend of their kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ematix_flow.backends.registry import backends
from ematix_flow.connections.load import Connections
from ematix_flow.connections.model.databases import DatabaseFileConnection
from ematix_flow.ports import Reader, Target


@dataclass(frozen=True, slots=True)
class Places:
    """The sources and targets of a project, by the names of their connections."""

    connections: Connections

    def reader(self, name: str) -> Reader:
        """Return the source behind a connection."""
        connection = self.connections.resolved(name)
        return backends()[connection.kind].reader(connection)

    def target(self, name: str) -> Target:
        """Return the target behind a connection."""
        connection = self.connections.resolved(name)
        return backends()[connection.kind].target(connection)

    def target_at(self, name: str, file: Path) -> Target:
        """Return the target as if its database were *file*; only for one that is a file."""
        connection = self.connections.resolved(name)
        assert isinstance(connection, DatabaseFileConnection)
        return backends()[connection.kind].target(replace(connection, path=str(file)))

    def database_file(self, name: str) -> Path | None:
        """Return the file that a connection's database is; None for a server, or for memory."""
        match self.connections.resolved(name):
            case DatabaseFileConnection(in_memory=False, location=location):
                return location
            case _:
                return None
