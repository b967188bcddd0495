"""A lock of the operating system on a file, with who holds it written inside.

It dies with its process, so it needs no heartbeat and no clock. The file is removed when the lock
is given up; whoever has opened a removed one looks again.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_MOST_BYTES = 4096
# Whoever has just taken it needs a moment to say who it is.
_LOOKS = 5
_BETWEEN_LOOKS = 0.02


class LockHeld(Exception):
    """Somebody else holds the lock.

    :param told: ` (by ..., process 7, since ...)`; empty where the holder has not said.
    """

    def __init__(self, told: str) -> None:
        self.told = told
        super().__init__(f"the lock is held{told}")


@contextmanager
def os_lock(file: Path, *, since: str, holder: str | None = None) -> Iterator[None]:
    """Hold *file* for the block; LockHeld where another does, OSError where it cannot be made.

    :param holder: Who we are, beyond the number of this process.
    """
    descriptor = _locked(file)
    try:
        # Who holds it helps others; without that the lock holds all the same.
        with suppress(OSError):
            facts = {"holder": holder, "pid": os.getpid(), "since": since}
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps(facts).encode(), 0)
        yield
    finally:
        # While it is locked, so that nobody has it who will not look again.
        with suppress(OSError):
            file.unlink()
        os.close(descriptor)


def _locked(file: Path) -> int:
    while True:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(file, descriptor):
                return descriptor
        except BlockingIOError:
            told = _told(descriptor)
            os.close(descriptor)
            raise LockHeld(told) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_still(file: Path, descriptor: int) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    return False


def _told(descriptor: int) -> str:
    for _ in range(_LOOKS):
        try:
            facts = json.loads(os.pread(descriptor, _MOST_BYTES, 0))
            by = f"by {facts['holder']}, " if facts["holder"] else ""
            return f" ({by}process {facts['pid']}, since {facts['since']})"
        except (OSError, ValueError, KeyError, TypeError):
            time.sleep(_BETWEEN_LOOKS)
    return ""
