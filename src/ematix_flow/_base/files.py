"""Files written whole or not at all, and files only their owner can read."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700


def write_whole(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write *content* so that a reader sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise


def private_directory(path: Path) -> Path:
    """Create *path*, readable by its owner alone, and return it."""
    path.mkdir(parents=True, exist_ok=True, mode=PRIVATE_DIRECTORY)
    path.chmod(PRIVATE_DIRECTORY)
    return path
