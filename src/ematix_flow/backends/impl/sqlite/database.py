"""Opening a SQLite file, with its errors made plain.

Nothing but SQLite opens the file: closing any other handle of it would give up the locks
of every connection this process has (https://sqlite.org/howtocorrupt.html, 2.2).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from ematix_flow.backends.database_file import require_readable
from ematix_flow.backends.failure import Failure, missing, refused_row
from ematix_flow.backends.impl.sqlite.functions import add_functions
from ematix_flow.backends.impl.sqlite.memory import is_kept, uri_of
from ematix_flow.backends.impl.sqlite.waiting import MOMENT_SECONDS, WaitingConnection
from ematix_flow.backends.in_memory import is_in_memory, never_written
from ematix_flow.backends.purpose import Purpose
from ematix_flow.errors import DatabaseBusy, FlowError, QueryError


def is_there(path: Path, failure: Failure) -> bool:
    """Tell whether there is something at *path*; not being allowed to look is an error."""
    if is_in_memory(path):
        return is_kept(path)
    try:
        return path.exists()
    except OSError as error:
        raise failure(f"{str(path)!r} cannot be read: {error.strerror}") from error


@contextmanager
def opened(path: Path, purpose: Purpose, failure: Failure) -> Iterator[sqlite3.Connection]:
    """Open the database, creating it where it is to be written and is not there.

    :param failure: What goes wrong is the source's fault or the target's.
    """
    if is_there(path, failure):
        _check_file(path, failure)
    elif purpose.writes:
        _make_room(path, failure)
    elif is_in_memory(path):
        raise never_written(path, failure)
    else:
        raise missing(failure)(f"SQLite database {str(path)!r} does not exist")
    with translating(path, failure), closing(_connect(path, purpose)) as database:
        add_functions(database)
        yield database


def _check_file(path: Path, failure: Failure) -> None:
    """Refuse a path that cannot be a SQLite database. An empty file is an empty database."""
    if not is_in_memory(path):
        require_readable(path, "SQLite", failure)


def _make_room(path: Path, failure: Failure) -> None:
    """See to it that SQLite can create the database."""
    if is_in_memory(path):
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise failure(f"{str(path)!r} cannot be created: {error.strerror}") from error


def _connect(path: Path, purpose: Purpose) -> sqlite3.Connection:
    place = uri_of(path) if is_in_memory(path) else f"file:{quote(str(path))}"
    if purpose.writes:
        return _connected(place, purpose)
    mode = f"{place}{'&' if '?' in place else '?'}mode="
    database = _connected(f"{mode}ro", purpose)
    try:
        database.execute("PRAGMA schema_version").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
            return database  # whoever uses it will be told
        # A run that was killed left a journal, which only those who may write can roll back.
        database.close()
        with closing(_connected(f"{mode}rw", purpose)) as mending:
            mending.execute("PRAGMA schema_version").fetchone()
        database = _connected(f"{mode}ro", purpose)
    return database


def _connected(place: str, purpose: Purpose) -> sqlite3.Connection:
    return sqlite3.connect(
        place,
        uri=True,
        factory=WaitingConnection,
        timeout=MOMENT_SECONDS,
        isolation_level=None,
        # Whoever takes the rows may do so in a thread of its own, as DuckDB does.
        check_same_thread=purpose.writes,
    )


@contextmanager
def translating(path: Path, failure: Failure) -> Iterator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except FlowError:
        raise
    except sqlite3.IntegrityError as error:
        raise refused_row("SQLite", str(error), str(path)) from error
    except sqlite3.Error as error:
        # Errors of the driver itself, such as text that is not UTF-8, have no code.
        code: str = getattr(error, "sqlite_errorname", "")
        if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise DatabaseBusy(
                f"SQLite database {str(path)!r} is held by another process: {error}",
                hint="run again when the other writer is done",
            ) from error
        if code == "SQLITE_NOTADB":
            raise failure(f"{str(path)!r} is not a SQLite database") from error
        if code == "SQLITE_ERROR":
            raise QueryError(f"SQLite refuses the query: {error}", where=str(path)) from error
        raise failure(f"SQLite: {error}", where=str(path)) from error
