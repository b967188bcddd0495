"""The lease on a database that is a file: a lock of the operating system beside it.

It dies with its process, so it needs no heartbeat and no clock. The file is removed when
the lease ends; whoever waited for a removed one looks again.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ematix_flow.errors import PipelineBusy, TargetError

_MOST_BYTES = 4096
# Whoever has just taken it needs a moment to say who it is.
_LOOKS = 5
_BETWEEN_LOOKS = 0.02


@contextmanager
def file_lock(database: Path, pipeline: str, *, holder: str, since: str) -> Iterator[None]:
    """Hold *pipeline* on *database* for the block, or say who holds it."""
    file = database.with_name(f"{database.name}.{pipeline}.flow-lock")
    descriptor = _locked(file, pipeline)
    try:
        facts = {"holder": holder, "pid": os.getpid(), "since": since}
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(facts).encode(), 0)
        yield
    finally:
        # While it is locked, so that nobody has it who will not look again.
        file.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(file: Path, pipeline: str) -> int:
    while True:
        descriptor = _opened(file)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            told = _holder(descriptor)
            os.close(descriptor)
            raise PipelineBusy(
                f"pipeline {pipeline!r} is already running{told}",
                hint="wait for that run to end, then run again",
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        if _is_still(file, descriptor):
            return descriptor
        os.close(descriptor)


def _opened(file: Path) -> int:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        return os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise TargetError(
            f"{str(file)!r} cannot be written: {error.strerror}",
            hint="a run locks its target with a file beside it: make the folder writable",
        ) from error


def _is_still(file: Path, descriptor: int) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    return False


def _holder(descriptor: int) -> str:
    for _ in range(_LOOKS):
        try:
            facts = json.loads(os.pread(descriptor, _MOST_BYTES, 0))
            return f" (by {facts['holder']}, process {facts['pid']}, since {facts['since']})"
        except (OSError, ValueError, KeyError, TypeError):
            time.sleep(_BETWEEN_LOOKS)
    return ""
