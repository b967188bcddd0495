"""Where a PostgreSQL database is."""

from __future__ import annotations

from dataclasses import dataclass, field

from ematix_flow.backends.account import shown_account
from ematix_flow.connections.model import PostgresConnection

# A host that swallows packets would otherwise be waited for until the kernel gives up: minutes
# while connecting, two hours while a statement runs.
PATIENCE = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A database to connect to; the password is in *dsn* alone, which is not shown.

    :param address: `host:port`, for messages.
    :param user: None where the driver takes the name of this process' account.
    """

    dsn: str = field(repr=False)
    address: str
    database: str
    user: str | None

    @classmethod
    def of(cls, connection: PostgresConnection) -> Server:
        """Return where a resolved *connection* leads to."""
        dsn, host = connection.dsn, connection.host
        for name, value in PATIENCE.items():
            if name not in connection.parameters:
                dsn += f"{'&' if '?' in dsn else '?'}{name}={value}"
        return cls(
            dsn=dsn,
            # Several hosts each have their port.
            address=host if "," in host else f"{host}:{connection.port}",
            database=connection.database,
            user=connection.user,
        )

    @property
    def account(self) -> str:
        """Who logs in, for messages."""
        return shown_account(self.user)

    def __str__(self) -> str:
        return f"{self.address}/{self.database}"
