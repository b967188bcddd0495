"""Tables in the memory of this process, as source and target.

They lie in a DuckDB database without a file, so all of it is left to that backend: what this
one adds is a name for such a database.
"""

from __future__ import annotations

from dataclasses import replace

from ematix_flow.backends.registry import backends
from ematix_flow.connections.model import DuckDBConnection, MemoryConnection
from ematix_flow.ports import Backend, Reader, Target
from ematix_flow.spec.capability import Capabilities

KIND = "memory"


class MemoryBackend:
    """Named databases that live as long as the process."""

    @property
    def capabilities(self) -> Capabilities:
        """What DuckDB can do."""
        return replace(_duckdb().capabilities, kind=KIND, extra=KIND)

    def reader(self, connection: object) -> Reader:
        """Return a reader over *connection*."""
        return _duckdb().reader(_without_file(connection))

    def target(self, connection: object) -> Target:
        """Return the target behind *connection*."""
        return _duckdb().target(_without_file(connection))


def _duckdb() -> Backend:
    # By its entry point, as everybody finds it: backends are strangers to each other.
    return backends()["duckdb"]


def _without_file(connection: object) -> DuckDBConnection:
    assert isinstance(connection, MemoryConnection)
    # The slash keeps it apart from a DuckDB connection that has the name and no file.
    return DuckDBConnection(
        name=connection.name,
        origin=connection.origin,
        path=f":memory:/{connection.database}",
        live=True,
    )


BACKEND = MemoryBackend()
