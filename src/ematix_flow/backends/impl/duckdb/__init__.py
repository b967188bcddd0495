"""DuckDB as source and target."""

from __future__ import annotations

from ematix_flow.backends.support import DATABASE_SUPPORT
from ematix_flow.connections.model import DuckdbConnection
from ematix_flow.ports import Reader, Target
from ematix_flow.spec.capability import Capabilities


class DuckdbBackend:
    """One database file; queries run in it, one process at a time."""

    capabilities = Capabilities(
        kind="duckdb",
        dialect="duckdb",
        extra="duckdb",
        drivers=("duckdb",),
        support=DATABASE_SUPPORT,
    )

    def reader(self, connection: object) -> Reader:
        """Return a reader over *connection*."""
        from ematix_flow.backends.impl.duckdb.read import DuckdbReader

        assert isinstance(connection, DuckdbConnection)
        return DuckdbReader(connection.location)

    def target(self, connection: object) -> Target:
        """Return the target behind *connection*."""
        from ematix_flow.backends.impl.duckdb.write import DuckdbTarget

        assert isinstance(connection, DuckdbConnection)
        return DuckdbTarget(connection.location)


BACKEND = DuckdbBackend()
