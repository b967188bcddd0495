"""One contestant's process, from its start to its end, with the clock on."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from benchmarks.loads.memory import PeakMemory

TOO_LONG = "took longer than"
# A load that takes longer than this has failed.
PATIENCE = 300.0


class Failed(Exception):
    """A contestant did not end well, or its table is wrong; the text says how."""


def timed(
    command: list[str],
    folder: Path,
    environ: dict[str, str],
    roots: list[int],
    *,
    itself: bool,
) -> tuple[float, int]:
    """Run a command to its end; return its seconds and the peak of its and the roots' memory."""
    log = folder / "output.txt"
    with log.open("w") as output, ExitStack() as stack:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environ,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        # Whatever ends the measurement ends the contestant, its JVM included.
        stack.callback(_end, process)
        memory = stack.enter_context(PeakMemory([process.pid, *roots]))
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failed(f"{TOO_LONG} {PATIENCE:.0f} s") from None
        seconds = time.perf_counter() - begin
    if code:
        raise Failed(f"ended with {code}: {log.read_text()[-1500:].strip()}")
    if itself:
        seconds = float(Path(environ["LOAD_SECONDS"]).read_text())
    return seconds, memory.peak


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
