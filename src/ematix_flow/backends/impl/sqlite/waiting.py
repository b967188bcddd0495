"""Waiting for whoever holds a SQLite database, so that Ctrl-C is heard meanwhile."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

# How long to wait for another writer before giving up.
_BUSY_SECONDS = 30.0
# SQLite itself waits without listening, so it is let wait for no longer than a moment at a time.
MOMENT_SECONDS = 0.2
# Where waiting would be a deadlock, SQLite does not wait at all.
_PAUSE_SECONDS = 0.01
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY)


class WaitingConnection(sqlite3.Connection):
    """A connection that waits for others; to be opened with a timeout of `MOMENT_SECONDS`."""

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        """Run one statement, again while the database is busy: it has done nothing then."""
        deadline = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                return super().execute(sql, parameters)
            except sqlite3.OperationalError as error:
                busy = getattr(error, "sqlite_errorcode", None) in _BUSY
                if not busy or time.monotonic() >= deadline:
                    raise
                time.sleep(_PAUSE_SECONDS)
