"""MySQL and MariaDB as source and target."""

from __future__ import annotations

from ematix_flow.backends.support import DATABASE_SUPPORT
from ematix_flow.connections.model import MySQLConnection
from ematix_flow.ports import Reader, Target
from ematix_flow.spec.capability import Capabilities


class MySQLBackend:
    """One database of a server; queries run in it, rows go in by LOAD DATA."""

    capabilities = Capabilities(
        kind="mysql",
        dialect="mysql",
        extra="mysql",
        drivers=("pymysql", "pyarrow"),
        support=DATABASE_SUPPORT,
    )

    def reader(self, connection: object) -> Reader:
        """Return a reader over *connection*."""
        from ematix_flow.backends.impl.mysql.read import MySQLReader
        from ematix_flow.backends.impl.mysql.server import Server

        assert isinstance(connection, MySQLConnection)
        return MySQLReader(Server.of(connection))

    def target(self, connection: object) -> Target:
        """Return the target behind *connection*."""
        from ematix_flow.backends.impl.mysql.server import Server
        from ematix_flow.backends.impl.mysql.write import MySQLTarget

        assert isinstance(connection, MySQLConnection)
        return MySQLTarget(Server.of(connection))


BACKEND = MySQLBackend()
