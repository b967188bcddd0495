"""Where a MySQL or MariaDB database is."""

from __future__ import annotations

from dataclasses import dataclass, field

from ematix_flow.backends.account import shown_account
from ematix_flow.connections.model import MySQLConnection

# A host that swallows packets would otherwise be waited for until the kernel gives up.
_CONNECT_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A database to connect to; the password is not shown.

    :param user: None where the driver takes the name of this process' account.
    """

    host: str
    port: int
    database: str
    user: str | None
    password: str | None = field(repr=False)
    ssl_mode: str
    ssl_ca: str | None
    connect_seconds: int
    charset: str
    local_infile: bool

    @classmethod
    def of(cls, connection: MySQLConnection) -> Server:
        """Return where a resolved *connection* leads to."""
        return cls(
            host=connection.host,
            port=connection.port,
            database=connection.database,
            user=connection.user,
            password=connection.password,
            ssl_mode=connection.ssl_mode,
            ssl_ca=connection.ssl_ca,
            connect_seconds=connection.connect_timeout or _CONNECT_SECONDS,
            charset=connection.charset,
            local_infile=connection.local_infile,
        )

    @property
    def address(self) -> str:
        """Where it listens, for messages."""
        return self.host if self.host.startswith("/") else f"{self.host}:{self.port}"

    @property
    def account(self) -> str:
        """Who logs in, for messages."""
        return shown_account(self.user)

    def __str__(self) -> str:
        return f"{self.address}/{self.database}"
