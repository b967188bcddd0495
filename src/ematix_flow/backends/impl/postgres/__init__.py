"""PostgreSQL as source and target."""

from __future__ import annotations

from ematix_flow.backends.support import DATABASE_SUPPORT
from ematix_flow.connections.model import PostgresConnection
from ematix_flow.ports import Reader, Target
from ematix_flow.spec.capability import Capabilities


class PostgresBackend:
    """One database of a server; queries run in it, rows come and go by COPY."""

    capabilities = Capabilities(
        kind="postgres",
        dialect="postgres",
        extra="postgres",
        drivers=("adbc_driver_postgresql", "adbc_driver_manager", "asyncpg", "pyarrow"),
        support=DATABASE_SUPPORT,
    )

    def reader(self, connection: object) -> Reader:
        """Return a reader over *connection*."""
        from ematix_flow.backends.impl.postgres.read import PostgresReader
        from ematix_flow.backends.impl.postgres.server import Server

        assert isinstance(connection, PostgresConnection)
        return PostgresReader(Server.of(connection))

    def target(self, connection: object) -> Target:
        """Return the target behind *connection*."""
        from ematix_flow.backends.impl.postgres.server import Server
        from ematix_flow.backends.impl.postgres.write import PostgresTarget

        assert isinstance(connection, PostgresConnection)
        return PostgresTarget(Server.of(connection))


BACKEND = PostgresBackend()
