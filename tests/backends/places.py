"""Where a project of these tests keeps its data: a file, a folder, or a database of a server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

from tests.projects import ProjectFolder
from tests.services import namespace
from tests.services.mysql_family import connect as mysql_client
from tests.services.namespace import Database
from tests.services.postgres import client
from tests.services.service import Running

PASSWORD = "PLACES_{}_PASSWORD"  # the variable, not its value
# The one MySQL-family server that gets every test is MariaDB.
SERVERS = {"postgres": "postgres", "mysql": "mariadb"}
_ALL_TABLES = (
    "SELECT table_name FROM information_schema.tables WHERE table_schema = {here} ORDER BY 1"
)
_TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1",
    "duckdb": _ALL_TABLES.format(here="'main'"),
    "postgres": _ALL_TABLES.format(here="current_schema()"),
    "mysql": _ALL_TABLES.format(here="database()"),
}


@dataclass
class Places:
    """The places of one project, by the name of the connection that leads there."""

    project: ProjectFolder
    server: Callable[[str], Running]
    opened: ExitStack
    databases: dict[str, tuple[str, Database]] = field(default_factory=dict)

    def declare(self, name: str, kind: str) -> str:
        """The lines that declare the connection *name*."""
        if kind not in SERVERS:
            path = "data" if kind in ("csv", "parquet") else f"{name}.db"
            lines = [f'path = "{path}"']
        else:
            found = self.database(name, kind)
            facts = found.server.facts
            lines = [
                f'host = "{found.server.host}"',
                f"port = {found.server.port}",
                f'database = "{found.name}"',
                f'user = "{facts["user"]}"',
                f'password = "${{{PASSWORD.format(kind.upper())}}}"',
            ]
        body = "".join(f"    {line}\n" for line in (f'kind = "{kind}"', *lines))
        return f"\n@ematix.connection\nclass {name}:\n{body}"

    def environ(self) -> dict[str, str]:
        """What the project may see: as `ProjectFolder.flow` has it, and the server's password."""
        kept = ("PATH", "EMATIX_FLOW_ENGINE", "EMATIX_FLOW_DIRECT_UP_TO")
        seen = {name: os.environ[name] for name in kept if name in os.environ}
        passwords = {
            PASSWORD.format(kind.upper()): found.server.facts["password"]
            for kind, found in self.databases.values()
        }
        return {**seen, "HOME": str(self.project.path / "home"), **passwords}

    def database(self, name: str, kind: str) -> Database:
        """The database behind the connection *name*, made when it is first asked for."""
        if name not in self.databases:
            make = {"postgres": namespace.postgres_database, "mysql": namespace.mariadb_database}
            fresh = make[kind](self.server(SERVERS[kind]))
            self.databases[name] = (kind, self.opened.enter_context(fresh))
        return self.databases[name][1]

    def rows(self, name: str, query: str) -> list[tuple[object, ...]]:
        """What a database holds, asked with a driver that is not ours."""
        if name not in self.databases:
            return self.project.rows(f"{name}.db", query)
        kind, found = self.databases[name]
        if kind == "mysql":
            with mysql_client(found.server, database=found.name) as connection:
                cursor = connection.cursor()
                cursor.execute(query)
                return list(cursor.fetchall())
        with client().connect(found.dsn, options="-c TimeZone=UTC") as connection:
            return connection.execute(query).fetchall()

    def execute(self, name: str, kind: str, *statements: str) -> None:
        """Change a database by hand, as its owner would, with a driver that is not ours."""
        match kind:
            case "sqlite":
                self.project.sqlite(f"{name}.db", *statements)
            case "duckdb":
                import duckdb

                with duckdb.connect(str(self.project.path / f"{name}.db")) as database:
                    database.execute("SET TimeZone = 'UTC'")
                    for statement in statements:
                        database.execute(statement)
            case "mysql":
                found = self.database(name, kind)
                with mysql_client(found.server, database=found.name, autocommit=True) as connection:
                    for statement in statements:
                        connection.cursor().execute(statement)
            case _:
                with client().connect(self.database(name, kind).dsn, autocommit=True) as database:
                    for statement in statements:
                        database.execute(statement)

    def everything(self, name: str, kind: str) -> dict[str, list[tuple[object, ...]]]:
        """Every table of a database with its rows, ours included; nothing where it is no file."""
        return {
            table: sorted(self.rows(name, f"SELECT * FROM {table}"), key=repr)
            for table in self.tables(name, kind)
        }

    def tables(self, name: str, kind: str) -> list[str]:
        """Every table of a database, ours included; none where it is no file."""
        if kind not in SERVERS and not (self.project.path / f"{name}.db").exists():
            return []
        if kind in SERVERS:
            self.database(name, kind)
        return [str(table) for (table,) in self.rows(name, _TABLES[kind])]


def places_of(project: ProjectFolder, server: Callable[[str], Running]) -> Iterator[Places]:
    """Give the places of *project*, and take them down afterwards."""
    with ExitStack() as opened:
        yield Places(project=project, server=server, opened=opened)
