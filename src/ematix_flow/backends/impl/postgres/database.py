"""Opening a PostgreSQL database: in UTC, read-only where nothing is to be written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from ematix_flow.backends.failure import Failure, missing_driver
from ematix_flow.backends.impl.postgres.adbc import Connection
from ematix_flow.backends.impl.postgres.failures import translating
from ematix_flow.backends.impl.postgres.parameters import numbered
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.backends.purpose import Purpose

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
def opened(server: Server, purpose: Purpose, failure: Failure) -> Iterator[Connection]:
    """Connect; every statement is its own transaction until a `BEGIN`.

    :param failure: What goes wrong is the source's fault or the target's.
    """
    with translating(server, failure), closing(_connect(server, purpose)) as database:
        set_up(database, purpose)
        yield database


def set_up(database: Connection, purpose: Purpose) -> None:
    """Make an open session one for *purpose*."""
    chosen = settings_for(purpose)
    calls = ", ".join(f"set_config('{name}', '{value}', false)" for name, value in chosen.items())
    fetch(database, f"SELECT {calls}")


def settings_for(purpose: Purpose) -> dict[str, str]:
    """Return what a session is set to."""
    chosen = {**_ALWAYS, "lock_timeout": f"{purpose.lock_seconds}s"}
    if purpose.most_seconds is not None:
        chosen["statement_timeout"] = f"{purpose.most_seconds}s"
    if purpose.writes:
        # Only tables of our own are analysed: for those a small sample is enough.
        chosen["default_statistics_target"] = "10"
    else:
        chosen["default_transaction_read_only"] = "on"
    return chosen


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


def run(database: Connection, sql: str) -> int:
    """Run one statement that gives no rows, and return how many it changed."""
    with database.cursor() as cursor:
        cursor.execute(sql)
        return max(cursor.rowcount, 0)


def _connect(server: Server, purpose: Purpose) -> Connection:
    try:
        return Connection(server.dsn, built_in=not purpose.any_type)
    except ImportError as error:
        raise missing_driver("postgres", "adbc-driver-postgresql") from error
