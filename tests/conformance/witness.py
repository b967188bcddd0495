"""What a test ran on: the databases and files it was given, and how its rows were carried."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

# What tests call `mysql` by parameter is the family; the server that gets every test is MariaDB.
_KINDS = {
    "csv": "CSV",
    "parquet": "Parquet",
    "sqlite": "SQLite",
    "duckdb": "DuckDB",
    "memory": "memory",
    "postgres": "PostgreSQL",
    "mysql": "MariaDB",
    "mariadb": "MariaDB",
}
_SERVERS = {
    "postgres": "PostgreSQL",
    "mariadb": "MariaDB",
    "mysql": "MySQL",
    "kafka": "Kafka",
    "s3": "S3",
}
_PATHS = {"direct": "direct", "in_database": "in the database"}
_ENGINES = {"local": "Spark", "master": "Spark", "connect": "Spark Connect", "sail": "Sail"}


def ran_on(item: pytest.Item) -> frozenset[str]:
    """Return the names of what *item* has just run on."""
    return frozenset({*_backends(item), *_carriers(item)})


def _backends(item: pytest.Item) -> Iterator[str]:
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    for word in _words(parameters.values()):
        if word in _KINDS:
            yield _KINDS[word]
    for fixture in getattr(item, "funcargs", {}):
        if fixture.endswith("_database") and fixture.removesuffix("_database") in _SERVERS:
            yield _SERVERS[fixture.removesuffix("_database")]
    # A module about one backend says so by its name.
    about = item.path.stem.removeprefix("test_").partition("_")[0]
    if about in _KINDS:
        yield _KINDS[about]


def _words(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _words(value)


def _carriers(item: pytest.Item) -> Iterator[str]:
    """Return how rows were carried: by the records of the test's runs, or its own session."""
    funcargs = getattr(item, "funcargs", {})
    if "spark" in funcargs:
        yield "Spark"
    folder = funcargs.get("tmp_path")
    if not isinstance(folder, Path):
        return
    for file in folder.rglob("runs.jsonl"):
        for run in _runs(file):
            if run.get("path") in _PATHS:
                yield _PATHS[run["path"]]
            elif (engine := (run.get("engine") or {}).get("engine")) in _ENGINES:
                yield _ENGINES[engine]


def _runs(file: Path) -> list[dict[str, Any]]:
    """Return the runs that succeeded, each with all that its events said."""
    runs: dict[str, dict[str, Any]] = {}
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
            runs.setdefault(event["run_id"], {}).update(event)
        except (ValueError, KeyError, TypeError):  # a test of broken records
            continue
    return [run for run in runs.values() if run.get("status") == "succeeded"]
