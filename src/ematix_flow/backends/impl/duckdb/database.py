"""Opening a DuckDB file: late, briefly, and waiting for others.

DuckDB lets one process write, and while it does no other can even read. So a file is
opened only for the moment it is needed, and a taken one is waited for up to a deadline.

Nothing but DuckDB opens a database: closing any other handle of it would give up the
locks of every connection this process has.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.database_file import require_readable
from ematix_flow.backends.failure import Failure, missing, missing_driver, refused_row
from ematix_flow.backends.impl.duckdb.memory import connect_to, is_kept
from ematix_flow.backends.in_memory import is_in_memory, never_written
from ematix_flow.backends.purpose import Purpose
from ematix_flow.errors import DatabaseBusy, FlowError, QueryError, SourceError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_BUSY_SECONDS = 30.0
_RETRY_SECONDS = 0.1
# How DuckDB's messages begin or read; the rest of them is the path, which may say anything.
_HELD = "IO Error: Could not set lock on file"
_NO_DATABASE = "not a valid DuckDB database file"


def is_there(path: Path, failure: Failure) -> bool:
    """Tell whether there is a database. An empty file is what a crash left of creating one."""
    return is_kept(path) if is_in_memory(path) else bool(size_of(path, failure))


def size_of(path: Path, failure: Failure) -> int | None:
    """Return the file's size, None where there is none; not being allowed to look is an error."""
    if is_in_memory(path):
        return None
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise failure(f"{str(path)!r} cannot be read: {error.strerror}") from error


@contextmanager
def opened(
    path: Path, purpose: Purpose, failure: Failure, patience: float | None = None
) -> Iterator[DuckDBPyConnection]:
    """Open the database, waiting for whoever holds it.

    :param failure: What goes wrong is the source's fault or the target's.
    :param patience: How many seconds to wait.
    """
    if size_of(path, failure) is not None:
        require_readable(path, "DuckDB", failure)
    if purpose.writes:
        _make_room(path, failure)
    else:
        _require_database(path, failure)
    wait = _BUSY_SECONDS if patience is None else patience
    with (
        translating(path, failure),
        closing(_connect(path, read_only=not purpose.writes, patience=wait)) as database,
    ):
        _set_up(database)
        yield database


@contextmanager
def nowhere() -> Iterator[DuckDBPyConnection]:
    """Open a DuckDB without a database, for what needs none."""
    import duckdb

    with translating(Path(":memory:"), SourceError), closing(duckdb.connect()) as database:
        _set_up(database)
        yield database


def _set_up(database: DuckDBPyConnection) -> None:
    database.execute("SET TimeZone = 'UTC'")
    # A table that is not there must not be looked for among our Python variables.
    database.execute("SET python_enable_replacements = false")


def _require_database(path: Path, failure: Failure) -> None:
    if is_there(path, failure):
        return
    if is_in_memory(path):
        raise never_written(path, failure)
    empty = size_of(path, failure) is not None
    what = "is empty (0 bytes): it was never created" if empty else "does not exist"
    raise missing(failure)(f"DuckDB database {str(path)!r} {what}")


def _make_room(path: Path, failure: Failure) -> None:
    """See to it that DuckDB can create the database."""
    if is_in_memory(path):
        return
    try:
        match size_of(path, failure):
            case None:
                path.parent.mkdir(parents=True, exist_ok=True)
            case 0:
                _fill(path)
    except OSError as error:
        raise failure(f"{str(path)!r} cannot be created: {error.strerror}") from error


def _fill(path: Path) -> None:
    """Make an empty file, which a crash left and DuckDB refuses, an empty database.

    It is filled in place, not removed: another process may be about to lock it.
    """
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "empty.db"
        _connect(fresh, read_only=False, patience=0).close()
        content = fresh.read_bytes()
    with path.open("r+b", buffering=0) as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return  # It is being created at this moment: connecting will wait for it.
        if os.fstat(file.fileno()).st_size == 0:
            file.write(content)


def _connect(path: Path, *, read_only: bool, patience: float) -> DuckDBPyConnection:
    if is_in_memory(path):
        return connect_to(path)
    try:
        import duckdb
    except ImportError as error:
        raise missing_driver("duckdb", "duckdb") from error
    deadline = time.monotonic() + patience
    while True:
        try:
            return duckdb.connect(str(path), read_only=read_only)
        except duckdb.IOException as error:
            if not str(error).startswith(_HELD):
                raise
            if time.monotonic() >= deadline:
                raise DatabaseBusy(
                    f"DuckDB database {str(path)!r} is held by another process",
                    hint="close the other process (an open DuckDB shell counts), then run again",
                    details=str(error).partition("\n")[0],
                ) from error
            time.sleep(_RETRY_SECONDS)


@contextmanager
def translating(path: Path, failure: Failure) -> Iterator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except FlowError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("duckdb", "_duckdb")):
            raise
        first_line = str(error).partition("\n")[0]
        match type(error).__name__:
            case "BinderException" | "CatalogException" | "ParserException":
                raise QueryError(
                    f"DuckDB refuses the query: {first_line}", where=str(path)
                ) from error
            case "ConstraintException":
                raise refused_row("DuckDB", first_line, str(path)) from error
            case "IOException" if _NO_DATABASE in str(error).replace(str(path), ""):
                raise failure(f"{str(path)!r} is not a DuckDB database") from error
            case _:
                raise failure(f"DuckDB: {first_line}", where=str(path)) from error
