"""The PostgreSQL server of the contest and its databases, all under one prefix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import sql
from tests.services.home import Home
from tests.services.postgres import Postgres
from tests.services.supervisor import InUse, Supervisor

PREFIX = "load_bench"
# What can make one server faster than another, for the page.
TOLD = (
    "server_version",
    "shared_buffers",
    "work_mem",
    "maintenance_work_mem",
    "max_wal_size",
    "wal_level",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "autovacuum",
    "jit",
)


@contextmanager
def leased() -> Iterator[Server]:
    """Hold the server of the tests: the one that is up, or a new one, which ends with this."""
    home = Home.from_environment()
    supervisor, service = Supervisor(home), Postgres(home)
    was_up = supervisor.status(service) is not None
    try:
        with supervisor.lease(service) as running:
            yield Server(running.facts["dsn"])
    finally:
        if not was_up:
            # Tests that came meanwhile keep it.
            with suppress(InUse):
                supervisor.stop(service)


class Server:
    """The server, by the address of its first database."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    def dsn(self, database: str) -> str:
        """Return the address of one of our databases."""
        return f"{self._dsn.rpartition('/')[0]}/{PREFIX}_{database}"

    def create(self, database: str, template: str | None = None) -> None:
        """Make a database anew, empty or as a copy of *template*."""
        self.drop(database)
        origin = f"{PREFIX}_{template}" if template else "template0"
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
            sql.Identifier(f"{PREFIX}_{database}"), sql.Identifier(origin)
        )
        self._outside(statement)

    def rename(self, database: str, name: str) -> None:
        """Keep a database under another name, in place of what had that name."""
        self.drop(name)
        old, new = (sql.Identifier(f"{PREFIX}_{each}") for each in (database, name))
        self._outside(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(old, new))

    def drop(self, database: str) -> None:
        """Remove a database that may be there."""
        name = sql.Identifier(f"{PREFIX}_{database}")
        self._outside(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))

    def drop_all(self) -> None:
        """Remove every database of the contest."""
        like = "SELECT datname FROM pg_database WHERE starts_with(datname, %s)"
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            names = [name for (name,) in connection.execute(like, (f"{PREFIX}_",))]
        for name in names:
            self.drop(name.removeprefix(f"{PREFIX}_"))

    def execute(self, database: str, *statements: str) -> None:
        """Run statements in one of our databases, each by itself."""
        with psycopg.connect(self.dsn(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def fetch(self, database: str, query: str) -> tuple[Any, ...]:
        """Return the first row of a query."""
        with psycopg.connect(self.dsn(database), autocommit=True) as connection:
            row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return row

    def settle(self) -> None:
        """Write out what earlier work left in memory, so that nobody pays for others."""
        self._outside(sql.Composed([sql.SQL("CHECKPOINT")]))

    def settings(self) -> dict[str, str]:
        """Return the settings that matter for the figures."""
        with psycopg.connect(self._dsn) as connection:
            asked = connection.execute(
                "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)",
                (list(TOLD),),
            )
            found: dict[str, str] = dict(asked.fetchall())
        return {name: found[name] for name in TOLD}

    def _outside(self, statement: sql.Composed) -> None:
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            connection.execute(statement)
