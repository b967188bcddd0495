"""MariaDB, with a row-based binlog for change capture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.services.account import Account, unprivileged
from tests.services.install import program
from tests.services.mysql_family import MySQLFamily, client
from tests.services.process import must_run

PACKAGES = ("mariadb-server",)


@dataclass(frozen=True, slots=True)
class MariaDB(MySQLFamily):
    name = "mariadb"
    options = (
        *("--gtid-strict-mode=1", "--binlog-format=ROW", "--binlog-row-image=FULL"),
        "--character-set-server=utf8mb4",
    )

    def install(self) -> None:
        client()
        for tool in ("mariadbd", "mariadb-install-db"):
            self._tool(tool)

    def account(self) -> Account | None:
        return unprivileged("mysql")

    def _initialise(self, directory: Path) -> None:
        must_run(
            [
                *(self._tool("mariadb-install-db"), "--no-defaults", "--skip-name-resolve"),
                *(f"--datadir={directory / 'data'}", "--skip-test-db"),
                # Root gets in by the socket and as the server's own account only.
                "--auth-root-authentication-method=socket",
            ],
            directory=directory,
            account=self.account(),
        )

    def _server(self, directory: Path) -> list[str | Path]:
        return [self._tool("mariadbd"), "--no-defaults", f"--datadir={directory / 'data'}"]

    def _tool(self, name: str) -> Path:
        return program(name, packages=PACKAGES, stamps=self.home.installs)
