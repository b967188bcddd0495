"""Run a small program in a process of its own, and get back what it found.

A process can hold one Spark context, and an engine's promises are about what a
whole process leaves behind; so each scene plays in a fresh interpreter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 180
PRELUDE = """
import json, os, sys, time
from pathlib import Path
from ematix_flow.engine.choice import choose
from ematix_flow.engine.jars.store import JarCache
from ematix_flow.engine.host.java import find_java
from ematix_flow.engine.host.machine import GIB, Machine
from ematix_flow.engine.opening import open_engine
from ematix_flow.engine.spark.borrowed import borrow
from ematix_flow.engine.spark.embedded import close_embedded
from ematix_flow.engine.spark.sizing import size
from ematix_flow.engine.spark.errors import translate
from ematix_flow.engine.server.wanted import wanted_for
from ematix_flow.errors import FlowError
from tests.spark.engine.listening import listening

STATE = Path(sys.argv[1])
SMALL = Machine(cores=2, memory_bytes=2 * GIB)
SIZING = size(SMALL, 1000)
seen = {}

def engine(value="local[2]", **options):
    options = {"sizing": SIZING, "state_dir": STATE, **options}
    return open_engine(choose(value, {}, None), **options)

def wanted(connectors=(), sizing=SIZING):
    return wanted_for("local[2]", sizing=sizing, connectors=connectors, state_dir=STATE)
"""
POSTLUDE = """
print("\\nSEEN " + json.dumps(seen))
"""


@dataclass(frozen=True)
class Scene:
    """What a program found, and what it said besides."""

    seen: dict[str, Any]
    noise: str


def play(code: str, state: Path, *, cwd: Path | None = None, **environ: str) -> Scene:
    """Run *code* between prelude and postlude; it puts what it finds into `seen`."""
    return finish(begin(code, state, cwd=cwd, **environ))


def begin(
    code: str, state: Path, *, cwd: Path | None = None, **environ: str
) -> subprocess.Popen[str]:
    """Start *code* without waiting for it."""
    root = Path(__file__).resolve().parents[3]
    path = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    program = PRELUDE + textwrap.dedent(code) + POSTLUDE
    # pyspark leaves sockets to the garbage collector; every other warning is ours.
    warnings = ["-W", "error", "-W", "ignore::ResourceWarning"]
    return subprocess.Popen(
        [sys.executable, *warnings, "-c", program, str(state)],
        cwd=cwd or state.parent,
        env={**os.environ, "PYTHONPATH": path, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> Scene:
    """Wait for the program and return what it found."""
    try:
        output, errors = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    said, _, found = output.rpartition("\nSEEN ")
    assert process.returncode == 0, f"{said}\n{errors}"
    return Scene(seen=json.loads(found), noise=(said + errors).strip())
