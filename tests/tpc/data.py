"""TPC-H and TPC-DS at a small scale, with their queries and DuckDB's answers to them."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.services.absence import absent
from tests.services.cache import cached
from tests.services.home import Home

ROOT = Path(__file__).parents[2]
# A larger scale leaves fewer answers empty and takes as much longer: 1 is for the curious.
SCALE = os.environ.get("EMATIX_FLOW_TPC_SCALE", "0.01")
# How many queries each has; the data is checked to have as many.
COUNTS = {"tpch": 22, "tpcds": 99}
# What decides about the data, and so names the folder that keeps it.
_INPUTS = ("tools/tpc.py", "requirements/tpc.txt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One of the two, as `tools/tpc.py` wrote it."""

    name: str
    folder: Path

    @property
    def columns(self) -> dict[str, list[str]]:
        """The columns of every table, in order."""
        columns: dict[str, list[str]] = json.loads((self.folder / "columns.json").read_text())
        return columns

    def query(self, number: int) -> str:
        return (self.folder / "queries" / f"{number:02}.sql").read_text()

    def answer(self, number: int) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(
            (self.folder / "answers" / f"{number:02}.json").read_text()
        )
        return answer

    def table_file(self, table: str) -> Path:
        return self.folder / "tables" / f"{table}.parquet"


def benchmark(name: str) -> Benchmark:
    """The data, generated on first use and kept for the next run."""
    return Benchmark(name=name, folder=_generated() / name)


@functools.cache
def _generated() -> Path:
    digest = hashlib.sha256(b"".join((ROOT / each).read_bytes() for each in _INPUTS))
    folder = Home.from_environment().installs / f"tpc-{SCALE}-{digest.hexdigest()[:12]}"
    return cached(folder, _generate)


def _generate(folder: Path) -> None:
    _run("sh", "tools/env.sh", ".venv-tpc", "tpc")
    _run(".venv-tpc/bin/python", "tools/tpc.py", str(folder), SCALE)


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        absent(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
