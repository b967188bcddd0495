"""One suite, every backend. A gap is marked with its reason, never skipped.

`notimpl` is our debt, `notyet` upstream's, `never` cannot be. Each runs and must
fail: `xfail_strict` turns a mark red on the day its gap is closed.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.backends.places import Places, places_of
from tests.projects import ProjectFolder
from tests.services.namespace import Database

_POSTGRES = pytest.param("postgres", marks=pytest.mark.services)
SOURCES = ("csv", "parquet", "sqlite", "duckdb", _POSTGRES)
TARGETS = ("sqlite", "duckdb", _POSTGRES, "csv", "parquet")
DATABASES = ("sqlite", "duckdb", _POSTGRES)
_MARKS = ("notimpl", "notyet", "never")


@pytest.fixture
def postgres_config(postgres_database: Database, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """How to connect to an empty PostgreSQL database, its password written out."""
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")
    return {"kind": "postgres", "url": postgres_database.dsn}


@pytest.fixture
def places(project: ProjectFolder, request: pytest.FixtureRequest) -> Iterator[Places]:
    """Where the project keeps its data; a server is only started when it is asked for."""
    yield from places_of(project, lambda: request.getfixturevalue("postgres"))


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
