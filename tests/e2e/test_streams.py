"""Nobody has to read what `flow` writes: it works, and records, all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.projects import ProjectFolder

COPY = """
connect("app", kind="sqlite", path="äpp.db")
connect("out", kind="sqlite", path="out.db")

@ematix.table
class Copied:
    id: BigInt

@ematix.pipeline(target=Copied, source_connection="app", target_connection="out")
def load():
    return "SELECT id FROM given"
"""


@pytest.fixture
def shop(make_project) -> ProjectFolder:
    """A project whose folder has letters that not every stream can hold."""
    folder = make_project("fö ö")
    folder.sqlite("äpp.db", "CREATE TABLE given (id BIGINT)", "INSERT INTO given VALUES (1), (2)")
    folder.declare(COPY)
    return folder


@contextmanager
def _left() -> Iterator[int]:
    """A pipe whose reader has left, as `head` does."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        yield writing
    finally:
        os.close(writing)


@contextmanager
def _full() -> Iterator[int]:
    with Path("/dev/full").open("wb") as file:
        yield file.fileno()


@pytest.mark.proves("no-stack-trace", "record-of-run")
@pytest.mark.parametrize(
    ("stream", "code", "told"),
    [
        (_left, 141, "load: succeeded after"),
        (_full, 1, "Error: the answer cannot be written: No space left on device"),
    ],
)
def test_a_run_whose_answer_is_not_read_has_succeeded(shop, stream, code, told):
    with stream() as stdout:
        done = subprocess.run(
            [sys.executable, "-m", "ematix_flow.cli", "run", "--all"],
            cwd=shop.path,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == code, done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    [run] = shop.flow().runs()
    assert run.status == "succeeded"
    assert shop.rows("out.db", "SELECT count(*) FROM copied") == [(2,)]


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
def test_without_a_stream_to_answer_on_it_runs(shop, closed):
    command = [sys.executable, "-m", "ematix_flow.cli", "run", "load"]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *command],
        cwd=shop.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert shop.rows("out.db", "SELECT count(*) FROM copied") == [(2,)]


@pytest.mark.proves("no-stack-trace")
def test_letters_that_a_stream_cannot_hold_are_escaped(shop):
    ascii_only = {"PYTHONIOENCODING": "ascii:strict"}
    plain = shop.cli("init", "ä", env=ascii_only)
    assert (plain.returncode, plain.stderr) == (0, "")
    assert "f\\xf6 \\xf6/\\xe4" in plain.stdout
    table = shop.cli("connections", "list", env=ascii_only)
    assert (table.returncode, table.stderr) == (0, "")
    assert "path=\\xe4pp.db" in table.stdout
