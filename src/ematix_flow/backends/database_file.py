"""Databases that are one file."""

from __future__ import annotations

import os
from pathlib import Path

from ematix_flow.backends.failure import Failure


def require_readable(path: Path, database: str, failure: Failure) -> None:
    """Refuse what is at *path* where it can be no file of such a *database*."""
    if path.is_dir():
        raise failure(f"{str(path)!r} is a folder, not a {database} database")
    if not os.access(path, os.R_OK):
        raise failure(
            f"{str(path)!r} cannot be read: permission denied",
            hint="let the user of this process read the file",
        )
