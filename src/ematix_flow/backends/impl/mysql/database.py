"""Opening a MySQL or MariaDB database: in UTC, read-only where nothing is to be written."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from typing import Any, TypeAlias

from ematix_flow.backends.failure import Failure, missing_driver
from ematix_flow.backends.impl.mysql.failures import NOT_ENCRYPTED, number_of, translating
from ematix_flow.backends.impl.mysql.parameters import as_percent_s
from ematix_flow.backends.impl.mysql.server import Server
from ematix_flow.backends.purpose import LOOKING, Purpose
from ematix_flow.errors import TargetError
from ematix_flow.sqltext.type_table import COLLATIONS

# The driver says nothing of its types.
Connection: TypeAlias = Any

# A value that does not fit is an error, whatever the server's own mode; a 0 stays a 0.
_WRITING_MODE = (
    "STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
    "NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO"
)
# How long the server waits for us to take the next rows while we are busy with the last ones.
_PATIENCE_SECONDS = 3600


@contextmanager
def opened(server: Server, purpose: Purpose, failure: Failure) -> Iterator[Connection]:
    """Connect; every statement is its own transaction until a `START TRANSACTION`.

    :param failure: What goes wrong is the source's fault or the target's.
    """
    with (
        translating(server, failure),
        closing(_connect(server, purpose)) as database,
        _ending_there(server, database),
    ):
        set_up(database, purpose)
        yield database


@contextmanager
def _ending_there(server: Server, database: Connection) -> Iterator[None]:
    """End on the server what is interrupted here, such as by Ctrl-C.

    The driver then closes the connection, but the server learns of that only when its statement
    is done: one that waits for a lock would go on waiting, and keep all others that it holds.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if not database.open:
            _end(server, int(database.thread_id()))
        raise


def set_up(database: Connection, purpose: Purpose) -> None:
    """Make an open session one for *purpose*."""
    for statement in _settings(purpose, dialect_of(database)):
        run(database, statement)


def fetch(
    database: Connection, sql: str, parameters: Sequence[object] = ()
) -> list[tuple[Any, ...]]:
    """Run one query with `?` parameters and return its rows."""
    with _executed(database, sql, parameters) as cursor:
        return list(cursor.fetchall())


def run(database: Connection, sql: str, parameters: Sequence[object] = ()) -> int:
    """Run one statement with `?` parameters, and return how many rows it changed."""
    with _executed(database, sql, parameters) as cursor:
        return max(int(cursor.rowcount), 0)


@contextmanager
def _executed(database: Connection, sql: str, parameters: Sequence[object]) -> Iterator[Any]:
    with database.cursor() as cursor:
        if parameters:
            cursor.execute(as_percent_s(sql), tuple(parameters))
        else:
            cursor.execute(sql)
        yield cursor


def dialect_of(database: Connection) -> str:
    """Tell MariaDB from MySQL, by the name in its version."""
    return "mariadb" if "mariadb" in str(database.get_server_info()).lower() else "mysql"


@cache
def dialect_at(server: Server) -> str:
    """Ask the server which of the two it is, once."""
    with translating(server, TargetError), closing(_connect(server, LOOKING)) as database:
        return dialect_of(database)


def _settings(purpose: Purpose, dialect: str) -> Iterator[str]:
    chosen = {
        "time_zone": "'+00:00'",
        "lock_wait_timeout": purpose.lock_seconds,
        "innodb_lock_wait_timeout": purpose.lock_seconds,
        "net_write_timeout": _PATIENCE_SECONDS,
        "net_read_timeout": _PATIENCE_SECONDS,
    }
    if purpose.most_seconds is not None:
        if dialect == "mariadb":
            chosen["max_statement_time"] = purpose.most_seconds
        else:
            chosen["max_execution_time"] = purpose.most_seconds * 1000
    if purpose.writes:
        chosen["sql_mode"] = f"'{_WRITING_MODE}'"
    yield "SET SESSION " + ", ".join(f"{name} = {value}" for name, value in chosen.items())
    if purpose.writes:
        # What has no column's collation, such as CAST(... AS CHAR), compares exactly too.
        yield f"SET NAMES utf8mb4 COLLATE {COLLATIONS[dialect]}"
    else:
        yield "SET SESSION TRANSACTION READ ONLY"


def _connect(server: Server, purpose: Purpose) -> Connection:
    database = _greeted(server, purpose)
    # The driver has one limit for all that it reads: from here on it is that of a statement.
    # Without one, a server that went away without a word would be waited for for ever.
    database._read_timeout = None if purpose.most_seconds is None else 2 * purpose.most_seconds
    database._write_timeout = None
    return database


def _greeted(server: Server, purpose: Purpose) -> Connection:
    """Connect, and wait no longer for a word of the handshake than for the connection itself."""
    try:
        import pymysql  # type: ignore[import-untyped]  # no stubs
        from pymysql.constants import CLIENT  # type: ignore[import-untyped]
        from pymysql.converters import conversions, encoders  # type: ignore[import-untyped]
    except ImportError as error:
        raise missing_driver("mysql", "PyMySQL") from error
    place = {"unix_socket": server.host} if server.host.startswith("/") else {"host": server.host}
    connect = partial(
        pymysql.connect,
        **place,
        port=server.port,
        user=server.user,
        password=server.password or "",
        database=server.database,
        charset="utf8mb4" if purpose.writes else server.charset,
        connect_timeout=server.connect_seconds,
        read_timeout=server.connect_seconds,
        write_timeout=server.connect_seconds,
        autocommit=True,
        # An UPDATE counts the rows it finds, as everywhere else.
        client_flag=CLIENT.FOUND_ROWS,
        local_infile=purpose.writes and server.local_infile,
        # Without converters, values are given as the server sends them: as text, or bytes.
        conv=encoders if purpose.any_type else conversions,
    )
    if server.ssl_mode == "DISABLED":
        return connect(ssl_disabled=True)
    try:
        return connect(ssl=_encryption(server.ssl_mode, server.ssl_ca))
    except pymysql.err.OperationalError as error:
        if server.ssl_mode != "PREFERRED" or number_of(error) != NOT_ENCRYPTED:
            raise
        return connect(ssl_disabled=True)


@cache  # reading the authorities of this machine takes longer than to connect
def _encryption(mode: str, authority: str | None) -> ssl.SSLContext:
    if mode in ("VERIFY_CA", "VERIFY_IDENTITY"):
        context = ssl.create_default_context(cafile=authority)
        context.check_hostname = mode == "VERIFY_IDENTITY"
        return context
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _end(server: Server, session: int) -> None:
    import pymysql

    # It may be gone by now; what matters is that we were interrupted.
    with suppress(pymysql.Error), closing(_connect(server, LOOKING)) as database:
        run(database, f"KILL QUERY {session}")
