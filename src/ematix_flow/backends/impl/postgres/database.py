"""Opening a PostgreSQL database: in UTC, read-only where nothing is to be written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from ematix_flow.backends.base import missing_driver
from ematix_flow.backends.impl.postgres.adbc import Connection
from ematix_flow.backends.impl.postgres.failures import Failure, translating
from ematix_flow.backends.impl.postgres.parameters import numbered
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.errors import TargetError

# Looking at metadata waits for nobody long: whoever alters a table holds it exclusively.
LOOKING = {"lock_timeout": "10s", "statement_timeout": "60s"}
# A query over much data takes its time; the user's server may have a limit of its own.
READING = {"lock_timeout": "60s"}
# Another commit of the same pipeline holds the fence for as long as it takes.
WRITING = {
    "lock_timeout": "300s",
    # Only tables of our own are analysed: for those a small sample is enough.
    "default_statistics_target": "10",
}

_ALWAYS = {
    "TimeZone": "UTC",
    # The driver speaks UTF-8 whatever the server expects of a client, so the server must know.
    "client_encoding": "UTF8",
    # What a value looks like as text must not depend on the server: rows are compared by it.
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "standard_conforming_strings": "on",
    # "Already exists, skipping" would be printed by the driver itself.
    "client_min_messages": "warning",
}


@contextmanager
def opened(
    server: Server,
    settings: dict[str, str],
    *,
    read_only: bool,
    failure: Failure,
    built_in: bool = False,
) -> Iterator[Connection]:
    """Connect; every statement is its own transaction until a `BEGIN`.

    :param settings: `LOOKING`, `READING` or `WRITING`.
    :param failure: What goes wrong is the source's fault or the target's.
    :param built_in: Whether only built-in types are fetched. From a target they always are: its
        columns have the types that we can declare.
    """
    built_in = built_in or issubclass(failure, TargetError)
    with translating(server, failure), closing(_connect(server, built_in=built_in)) as database:
        chosen = session_settings(settings, read_only=read_only)
        calls = ", ".join(
            f"set_config('{name}', '{value}', false)" for name, value in chosen.items()
        )
        fetch(database, f"SELECT {calls}")
        yield database


def session_settings(settings: dict[str, str], *, read_only: bool) -> dict[str, str]:
    """Return what a session of ours is set to."""
    mode = {"default_transaction_read_only": "on"} if read_only else {}
    return {**_ALWAYS, **settings, **mode}


def fetch(
    database: Connection, sql: str, parameters: Sequence[object] = ()
) -> list[tuple[Any, ...]]:
    """Run one query with `?` parameters and return its rows."""
    with database.cursor() as cursor:
        if parameters:
            cursor.execute(numbered(sql), tuple(parameters))
        else:
            cursor.execute(sql)
        return cursor.fetchall()


def _connect(server: Server, *, built_in: bool) -> Connection:
    try:
        return Connection(server.dsn, built_in=built_in)
    except ImportError as error:
        missing_driver("postgres", "adbc-driver-postgresql", error)
