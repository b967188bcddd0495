"""Database servers, reached over the network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal
from urllib.parse import quote

from ematix_flow.connections.model.address import Address
from ematix_flow.connections.model.connection import Connection
from ematix_flow.connections.model.property import prop
from ematix_flow.connections.model.settings import NO_SETTINGS


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DatabaseServerConnection(Connection):
    """A database behind a host and a port."""

    requires: ClassVar[tuple[str, ...]] = ("database",)
    aliases: ClassVar[Mapping[str, str]] = {
        "username": "user",
        "dbname": "database",
        "db": "database",
    }

    @classmethod
    def _from_address(cls, address: Address) -> dict[str, str]:
        said = {
            "host": address.host,
            "port": address.port,
            "database": address.path,
            "user": address.user,
            "password": address.password,
        }
        return {key: text for key, text in said.items() if text}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PostgresConnection(DatabaseServerConnection):
    """A PostgreSQL database.

    :param properties: Further connection parameters by their libpq names.
    """

    kind = "postgres"
    schemes = ("postgres", "postgresql")

    host: str = prop("localhost", "The server, or several: `one:5432,two:5432`")
    port: int = prop(5432, "Its port")
    database: str = prop("", "The database")
    user: str | None = prop(None, "Who logs in")
    password: str | None = prop(None, "Its password", secret=True)
    sslmode: Literal["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] | None = (
        prop(None, "How far the connection is encrypted and verified; by default `prefer`")
    )
    sslrootcert: str | None = prop(None, "File of the authority that the server's key is from")
    sslcert: str | None = prop(None, "File of our certificate")
    sslkey: str | None = prop(None, "File of our key")
    connect_timeout: int | None = prop(None, "Seconds to wait for the server")
    application_name: str = prop("ematix-flow", "How the server lists us")
    options: str | None = prop(None, "Server settings: `-c statement_timeout=5min`")
    properties: Mapping[str, str] = prop(NO_SETTINGS, "Further libpq parameters")

    @property
    def parameters(self) -> dict[str, str]:
        """The connection parameters beside the login, by their libpq names."""
        typed = {
            "sslmode": self.sslmode,
            "sslrootcert": self.sslrootcert,
            "sslcert": self.sslcert,
            "sslkey": self.sslkey,
            "connect_timeout": self.connect_timeout,
            "application_name": self.application_name,
            "options": self.options,
        }
        given = {name: str(value) for name, value in typed.items() if value not in (None, "")}
        return given | dict(self.properties)

    @property
    def dsn(self) -> str:
        """A libpq URI with its password; for a resolved connection, never for show."""
        # Not urlencode: libpq reads + as itself.
        query = "&".join(f"{_encoded(k)}={_encoded(v)}" for k, v in self.parameters.items())
        login = _login(self.user, self.password)
        place = _place(self.host, self.port)
        return f"postgresql://{login}{place}/{_encoded(self.database)}?{query}".rstrip("?")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MySQLConnection(DatabaseServerConnection):
    """A MySQL or MariaDB database."""

    kind = "mysql"
    schemes = ("mysql", "mariadb")

    host: str = prop("localhost", "The server")
    port: int = prop(3306, "Its port")
    database: str = prop("", "The database")
    user: str | None = prop(None, "Who logs in")
    password: str | None = prop(None, "Its password", secret=True)
    ssl_mode: Literal["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"] = prop(
        "PREFERRED", "How far the connection is encrypted and verified"
    )
    ssl_ca: str | None = prop(None, "File of the authority that the server's key is from")
    connect_timeout: int | None = prop(None, "Seconds to wait for the server")
    charset: str = prop("utf8mb4", "The character set of the connection")
    local_infile: bool = prop(True, "Load by LOAD DATA LOCAL where the server allows it")


def _encoded(text: str) -> str:
    return quote(text, safe="")


def _login(user: str | None, password: str | None) -> str:
    if user is None and password is None:
        return ""
    hidden = f":{_encoded(password)}" if password is not None else ""
    return f"{_encoded(user or '')}{hidden}@"


def _place(host: str, port: int) -> str:
    if "," in host:  # each with its own port
        return host
    shown = f"[{host}]" if ":" in host else _encoded(host)
    return f"{shown}:{port}"
