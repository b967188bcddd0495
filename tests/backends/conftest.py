"""One suite, every backend. A gap is marked with its reason, never skipped.

`notimpl` is our debt, `notyet` upstream's, `never` cannot be. Each runs and must
fail: `xfail_strict` turns a mark red on the day its gap is closed.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.forkserver
import os
from collections.abc import Callable, Iterator
from multiprocessing.context import BaseContext
from pathlib import Path
from unittest.mock import patch
from uuid import uuid4

import pytest

from ematix_flow.backends.registry import backends
from ematix_flow.connections.model import Connection
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.pipeline import WriteOptions
from ematix_flow.spec.table import Table
from tests.backends.mode_bench import TABLE, Bench
from tests.backends.places import SERVERS, Places, places_of
from tests.projects import ProjectFolder
from tests.services.namespace import Database

_POSTGRES = pytest.param("postgres", marks=pytest.mark.services)
_MYSQL = pytest.param("mysql", marks=pytest.mark.services)
SOURCES = ("csv", "parquet", "sqlite", "duckdb", _POSTGRES, _MYSQL)
TARGETS = ("sqlite", "duckdb", _POSTGRES, _MYSQL, "csv", "parquet")
DATABASES = ("sqlite", "duckdb", _POSTGRES, _MYSQL)
_MARKS = ("notimpl", "notyet", "never")
# What a process that is to be killed would otherwise spend its life on.
_IMPORTED = (
    *(f"tests.backends.{name}" for name in ("test_mode_crashes", "test_killed_runs")),
    *(
        f"ematix_flow.backends.impl.{kind}.{role}"
        for kind in ("sqlite", "duckdb", "postgres", "mysql")
        for role in ("read", "write")
    ),
    *("adbc_driver_postgresql.dbapi", "asyncpg", "duckdb", "pandas", "pyarrow.parquet", "pymysql"),
)


@pytest.fixture(autouse=True)
def _through_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows go through Spark here, also those that could do without; `test_direct` is for these."""
    monkeypatch.setenv("EMATIX_FLOW_DIRECT_UP_TO", "0")


@pytest.fixture
def postgres_config(postgres_database: Database, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """How to connect to an empty PostgreSQL database, its password written out."""
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")
    return {"kind": "postgres", "url": postgres_database.dsn}


@pytest.fixture
def mysql_config(mariadb_database: Database, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """How to connect to an empty MariaDB database, its password written out."""
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")
    return {"kind": "mysql", "url": mariadb_database.dsn}


@pytest.fixture(params=DATABASES)
def config(request: pytest.FixtureRequest) -> dict[str, str]:
    """How to connect to an empty database of each kind that outlives its process."""
    return _config_of(request)


@pytest.fixture(params=(*DATABASES, "memory"))
def any_config(request: pytest.FixtureRequest) -> dict[str, str]:
    """How to connect to an empty database of each kind."""
    return _config_of(request)


def _config_of(request: pytest.FixtureRequest) -> dict[str, str]:
    if request.param in SERVERS:
        found: dict[str, str] = request.getfixturevalue(f"{request.param}_config")
        return found
    if request.param == "memory":
        return {"kind": "memory", "database": uuid4().hex}
    return {"kind": request.param, "path": "out.db"}


@pytest.fixture
def bench(any_config: dict[str, str], tmp_path: Path) -> Callable[..., Bench]:
    """Make a table in an empty database of each kind, loaded without Spark."""

    def make(mode: Mode, table: Table = TABLE, **options: object) -> Bench:
        connection = Connection.from_config("out", any_config, base=tmp_path)
        target = backends()[connection.kind].target(connection)
        return Bench(target, tmp_path, table, WriteOptions(mode=mode, **options))

    return make


@pytest.fixture
def places(project: ProjectFolder, request: pytest.FixtureRequest) -> Iterator[Places]:
    """Where the project keeps its data; a server is only started when it is asked for."""
    yield from places_of(project, request.getfixturevalue)


@pytest.fixture(scope="session")
def forks() -> BaseContext:
    """Processes to be killed: forked from a server that has everything imported, so quickly."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*_IMPORTED])
    # They see what the server saw when it started, whichever test that was for.
    with patch.dict(os.environ, EMATIX_FLOW_ALLOW_INLINE_SECRETS="1"):
        multiprocessing.forkserver.ensure_running()
    return context


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for role, kinds in (
        ("source_kind", SOURCES),
        ("target_kind", TARGETS),
        ("between_kind", DATABASES),
    ):
        if role in metafunc.fixturenames:
            metafunc.parametrize(role, kinds)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        for name in _MARKS:
            for mark in item.iter_markers(name):
                sources, targets = mark.kwargs.get("sources", ()), mark.kwargs.get("targets", ())
                if parameters.get("source_kind") in sources or (
                    parameters.get("target_kind") in targets
                ):
                    reason, raises = f"{name}: {mark.kwargs['reason']}", mark.kwargs["raises"]
                    item.add_marker(pytest.mark.xfail(reason=reason, raises=raises, strict=True))
