"""SQLite databases in the memory of this process, found again by their names.

They lie in SQLite's `memdb`, not in a shared cache: connections lock each other as they do
over a file, and wait, where those that share a cache are refused at once. One connection
is kept until the process ends, and with it the database.
"""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from urllib.parse import quote

_kept: dict[str, sqlite3.Connection] = {}
_keeping = threading.Lock()


def is_kept(path: Path) -> bool:
    """Tell whether anybody has written to that name in this process."""
    return str(path) in _kept


def uri_of(path: Path) -> str:
    """Return the address of the database of that name, making it where there is none."""
    # The slash makes it one for all connections of this process.
    uri = f"file:/{quote(str(path), safe='')}?vfs=memdb"
    with _keeping:
        if str(path) not in _kept:
            _kept[str(path)] = sqlite3.connect(uri, uri=True, check_same_thread=False)
    return uri
