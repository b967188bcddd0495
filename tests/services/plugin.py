"""Pytest fixtures for real servers: `postgres`, `mariadb`, `mysql`, `kafka`, `s3`.

Loaded with `-p tests.services.plugin` or by `pytest_plugins` in the root conftest. The servers
stay up after the run and the next run finds them; in CI, or with
EMATIX_FLOW_TEST_SERVICES_STOP=1, the run stops them at its end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.services import namespace
from tests.services.absence import absent, in_ci
from tests.services.catalogue import SERVICES
from tests.services.home import Home
from tests.services.namespace import Bucket, Database, Topic
from tests.services.service import CannotInstall, Running
from tests.services.supervisor import InUse, Supervisor

STOP_VARIABLE = "EMATIX_FLOW_TEST_SERVICES_STOP"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "services: needs a real server that tests/services starts")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the time limit of a test off the start of its server.

    The first start on a machine downloads and compiles for minutes, and whichever test comes
    first would pay for it.
    """
    if not config.pluginmanager.hasplugin("timeout"):
        return
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        # By the marker too: a fixture asked for at run time is not in the list.
        marked = item.get_closest_marker("services") is not None
        needs_server = marked or not SERVICES.keys().isdisjoint(fixtures)
        if needs_server and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(func_only=True))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop the servers where nobody will come back for them.

    Last, and not in an xdist worker: only when the controller ends have all workers let go.
    """
    if hasattr(session.config, "workerinput"):
        return
    if not (in_ci() or os.environ.get(STOP_VARIABLE) == "1"):
        return
    home = Home.from_environment()
    for make in SERVICES.values():
        try:
            Supervisor(home).stop(make(home))
        except InUse:
            # Another test run in the same home; it stops the server itself if it is told to.
            continue


def _leased(name: str) -> Iterator[Running]:
    home = Home.from_environment()
    with ExitStack() as lease:
        try:
            running = lease.enter_context(Supervisor(home).lease(SERVICES[name](home)))
        except CannotInstall as reason:
            absent(f"{name}: {reason}")
        yield running


@pytest.fixture(scope="session")
def postgres() -> Iterator[Running]:
    yield from _leased("postgres")


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Running]:
    yield from _leased("mariadb")


@pytest.fixture(scope="session")
def mysql() -> Iterator[Running]:
    yield from _leased("mysql")


@pytest.fixture(scope="session")
def kafka() -> Iterator[Running]:
    yield from _leased("kafka")


@pytest.fixture(scope="session")
def s3() -> Iterator[Running]:
    yield from _leased("s3")


@pytest.fixture
def postgres_database(postgres: Running) -> Iterator[Database]:
    with namespace.postgres_database(postgres) as database:
        yield database


@pytest.fixture
def mariadb_database(mariadb: Running) -> Iterator[Database]:
    with namespace.mariadb_database(mariadb) as database:
        yield database


@pytest.fixture
def mysql_database(mysql: Running) -> Iterator[Database]:
    with namespace.mysql_database(mysql) as database:
        yield database


@pytest.fixture
def kafka_topic(kafka: Running) -> Iterator[Topic]:
    with namespace.kafka_topic(kafka) as topic:
        yield topic


@pytest.fixture
def s3_bucket(s3: Running) -> Iterator[Bucket]:
    with namespace.s3_bucket(s3) as bucket:
        yield bucket
