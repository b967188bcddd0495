"""Reaching what a connection names by plain means, where no backend can: TCP, HTTP, stat.

An exception to the rule that only `backends/impl/` opens connections: the kinds that are looked at
here have no backend, or none that can be asked without a table. No data is read. A schema registry
is asked with its login, since without one it would only say that it wants one.
"""

from __future__ import annotations

import base64
import socket
import ssl
from collections.abc import Iterable
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

from ematix_flow.connections.model import (
    Connection,
    KafkaConnection,
    MemoryConnection,
    MySQLConnection,
    PathConnection,
    RabbitMQConnection,
    RedshiftConnection,
    SchemaRegistryConnection,
    SnowflakeConnection,
)
from ematix_flow.errors import SourceError, SourceMissing

_SECONDS = 5.0
_IN_URLS = ":/?#[]@!$&'()*+,;=%~"
_PATHS = {"confluent": "/subjects", "apicurio": "/apis/registry/v2/system/info"}


def reach(connection: Connection) -> str | None:
    """Say what was reached (of a resolved connection), or None where plain means cannot tell.

    SourceError says why it was not reached.
    """
    match connection:
        case MemoryConnection():
            return "in memory"
        case PathConnection() if connection.path:
            return None if connection.is_remote else _path(connection)
        case KafkaConnection():
            return _first(connection.bootstrap_servers.split(","), default_port=9092)
        case RabbitMQConnection():
            port = connection.port or (5671 if connection.tls else 5672)
            return _tcp(connection.host, port)
        case MySQLConnection() | RedshiftConnection():
            return _tcp(connection.host, connection.port)
        case SnowflakeConnection():
            return _tcp(f"{connection.account}.snowflakecomputing.com", 443)
        case SchemaRegistryConnection():
            return _registry(connection)
        case _:
            return _endpoint(getattr(connection, "endpoint", None))


def _path(connection: PathConnection) -> str:
    place = connection.location
    if not place.exists():
        raise SourceMissing(f"there is no {str(place)!r}")
    return f"{'folder' if place.is_dir() else 'file'} {place}"


def _tcp(host: str, port: int) -> str:
    try:
        socket.create_connection((host, port), timeout=_SECONDS).close()
    except OSError as error:
        raise SourceError(f"{host}:{port} does not answer: {error.strerror or error}") from error
    except (UnicodeError, OverflowError):
        raise SourceError(f"{host}:{port} is not a host and a port") from None
    return f"{host}:{port} answers"


def _first(places: Iterable[str], *, default_port: int) -> str:
    """Reach any one of several servers: a client asks it for the others."""
    failure: SourceError | None = None
    for place in places:
        host, _, port = place.strip().rpartition(":")
        if port and not port.isdecimal():
            raise SourceError(f"{place.strip()!r} is not host:port")
        try:
            return _tcp((host or port).strip("[]"), int(port) if host else default_port)
        except SourceError as error:
            failure = error
    assert failure is not None  # str.split gives at least one
    raise failure


def _endpoint(endpoint: str | None) -> str | None:
    if not endpoint:
        return None
    try:
        parts = urlsplit(endpoint if "://" in endpoint else f"http://{endpoint}")
        port = parts.port
    except ValueError as error:
        raise SourceError(f"endpoint {endpoint!r} is not an address: {error}") from None
    return _tcp(parts.hostname or "", port or (443 if parts.scheme == "https" else 80))


def _registry(connection: SchemaRegistryConnection) -> str:
    place = quote(f"{(connection.url or '').rstrip('/')}{_PATHS[connection.api]}", safe=_IN_URLS)
    asked = Request(place)  # noqa: S310  # the model takes http and https only
    # Not redirected: another host must not be handed the login.
    if connection.bearer_token:
        asked.add_unredirected_header("Authorization", f"Bearer {connection.bearer_token}")
    elif connection.basic_auth_user is not None:
        login = f"{connection.basic_auth_user}:{connection.basic_auth_password or ''}"
        told = base64.b64encode(login.encode()).decode()
        asked.add_unredirected_header("Authorization", f"Basic {told}")
    try:
        trusted = ssl.create_default_context(cafile=connection.tls_ca_file)
        with urlopen(asked, timeout=connection.timeout, context=trusted) as answer:  # noqa: S310  # as above
            return f"{asked.full_url} answers {answer.status}"
    except HTTPError as error:
        with error:
            raise SourceError(f"{asked.full_url} answers {error.code} {error.reason}") from None
    except URLError as error:
        raise SourceError(f"{asked.full_url} does not answer: {error.reason}") from error
    except (OSError, HTTPException) as error:
        raise SourceError(
            f"{asked.full_url} does not answer: {str(error) or 'it hung up'}"
        ) from error
    except ValueError:
        # Without its cause: that shows the header.
        raise SourceError("its login holds characters that HTTP does not carry") from None
