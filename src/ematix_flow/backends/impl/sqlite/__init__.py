"""SQLite as source and target."""

from __future__ import annotations

from ematix_flow.backends.support import DATABASE_SUPPORT
from ematix_flow.connections.model import SqliteConnection
from ematix_flow.ports import Reader, Target
from ematix_flow.spec.capability import Capabilities


class SqliteBackend:
    """One database file; queries run in it, one writer at a time."""

    capabilities = Capabilities(
        kind="sqlite", dialect="sqlite", extra="sqlite", support=DATABASE_SUPPORT
    )

    def reader(self, connection: object) -> Reader:
        """Return a reader over *connection*."""
        from ematix_flow.backends.impl.sqlite.read import SqliteReader

        assert isinstance(connection, SqliteConnection)
        return SqliteReader(connection.location)

    def target(self, connection: object) -> Target:
        """Return the target behind *connection*."""
        from ematix_flow.backends.impl.sqlite.write import SqliteTarget

        assert isinstance(connection, SqliteConnection)
        return SqliteTarget(connection.location)


BACKEND = SqliteBackend()
