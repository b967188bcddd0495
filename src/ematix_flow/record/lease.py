"""The lease: two runs of one pipeline never interleave on one machine.

An operating-system lock, so that a killed process gives it up by dying. Beyond one
machine the fence on the target decides.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ematix_flow._base.clock import Clock, iso
from ematix_flow._base.files import private_directory
from ematix_flow.errors import ConfigError, PipelineBusy

# Whoever has just taken it needs a moment to say who it is.
_LOOKS = 5
_BETWEEN_LOOKS = 0.02


@contextmanager
def pipeline_lease(directory: Path, pipeline: str, clock: Clock) -> Iterator[None]:
    """Hold *pipeline* for the block, or say who holds it."""
    try:
        private_directory(directory.parent)
        private_directory(directory)
    except OSError as error:
        raise ConfigError(
            f"the project's state cannot be written to {str(directory)!r}: {error.strerror}",
            hint="make the project folder writable; nothing was run",
        ) from error
    lock = FileLock(directory / f"{pipeline}.lock")
    holder = directory / f"{pipeline}.json"
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise PipelineBusy(
            f"pipeline {pipeline!r} is already running{_holder(holder)}",
            hint="wait for that run to end; `flow runs` shows it",
        ) from None
    try:
        facts = {"pid": os.getpid(), "since": iso(clock.now())}
        holder.write_text(json.dumps(facts), encoding="utf-8")
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _holder(file: Path) -> str:
    for _ in range(_LOOKS):
        try:
            facts = json.loads(file.read_text(encoding="utf-8"))
            return f" (process {facts['pid']}, since {facts['since']})"
        except (OSError, ValueError, KeyError):
            time.sleep(_BETWEEN_LOOKS)
    return ""
