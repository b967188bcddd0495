"""MariaDB, with a row-based binlog for change capture."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tests.services.account import Account, unprivileged, write_private
from tests.services.home import Home
from tests.services.install import program, python_client
from tests.services.ports import LOOPBACK, PortPicker, free_ports, on_free_ports
from tests.services.process import await_answer, must_run, spawn, terminate
from tests.services.service import Running

PACKAGES = ("mariadb-server",)
USER = "flow"


@dataclass(frozen=True, slots=True)
class MariaDB:
    home: Home
    pick_ports: PortPicker = free_ports

    name: ClassVar[str] = "mariadb"

    def install(self) -> None:
        client()
        for tool in ("mariadbd", "mariadb-install-db"):
            self._tool(tool)

    def account(self) -> Account | None:
        return unprivileged("mysql")

    def start(self, directory: Path) -> Running:
        password = secrets.token_hex(16)
        self._initialise(directory, password)

        def serve(ports: tuple[int, ...]) -> Running:
            return self._serve(directory, ports[0], password)

        return on_free_ports(1, serve, pick=self.pick_ports)

    def is_ours(self, running: Running) -> bool:
        try:
            with connect(running) as connection, connection.cursor() as cursor:
                cursor.execute("select @@datadir")
                (directory,) = cursor.fetchone()
        except (client().MySQLError, OSError):
            return False
        return Path(directory) == running.data_dir

    def stop(self, running: Running) -> None:
        terminate(running.pid)

    def _initialise(self, directory: Path, password: str) -> None:
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
        write_private(
            directory / "init.sql",
            f"create user if not exists '{USER}'@'{LOOPBACK}' identified by '{password}';\n"
            f"grant all on *.* to '{USER}'@'{LOOPBACK}' with grant option;\n",
            self.account(),
        )

    def _serve(self, directory: Path, port: int, password: str) -> Running:
        data = directory / "data"
        pid = spawn(
            [
                *(self._tool("mariadbd"), "--no-defaults", f"--datadir={data}"),
                *(f"--bind-address={LOOPBACK}", f"--port={port}", "--skip-name-resolve"),
                # Relative to the data directory: a full path may be longer than sockets allow.
                *("--socket=server.sock", "--pid-file=server.pid"),
                f"--init-file={directory / 'init.sql'}",
                *("--server-id=1", "--log-bin=binlog", "--gtid-strict-mode=1"),
                *("--binlog-format=ROW", "--binlog-row-image=FULL", "--binlog-row-metadata=FULL"),
                *("--character-set-server=utf8mb4", "--default-time-zone=+00:00"),
                # The data is thrown away with the server: no need to flush each commit to disk.
                *("--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0"),
            ],
            directory=directory,
            account=self.account(),
        )
        running = Running(
            name=self.name,
            host=LOOPBACK,
            port=port,
            ports={"sql": port},
            data_dir=data,
            pid=pid,
            facts={"user": USER, "password": password},
        )
        await_answer(pid, directory=directory, answers=lambda: self.is_ours(running))
        return running

    def _tool(self, name: str) -> Path:
        return program(name, packages=PACKAGES, stamps=self.home.installs)


def client() -> Any:
    return python_client("pymysql", "pymysql")


def connect(running: Running, **options: Any) -> Any:
    return client().connect(
        host=running.host,
        port=running.port,
        user=running.facts["user"],
        password=running.facts["password"],
        connect_timeout=5,
        read_timeout=30,
        **options,
    )
