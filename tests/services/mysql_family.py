"""What MariaDB and MySQL have in common: how they are set up, served and recognised."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tests.services.account import Account, write_private
from tests.services.home import Home
from tests.services.install import python_client
from tests.services.ports import LOOPBACK, PortPicker, free_ports, on_free_ports
from tests.services.process import await_answer, spawn, terminate
from tests.services.service import Running

USER = "flow"


@dataclass(frozen=True, slots=True)
class MySQLFamily(ABC):
    home: Home
    pick_ports: PortPicker = free_ports

    name: ClassVar[str]
    options: ClassVar[tuple[str, ...]]
    """What this server is told beside what both are."""

    @abstractmethod
    def account(self) -> Account | None: ...

    @abstractmethod
    def _initialise(self, directory: Path) -> None:
        """Create the server's own tables."""

    @abstractmethod
    def _server(self, directory: Path) -> list[str | Path]:
        """The program, and where it finds what it needs."""

    def _accounts(self, password: str) -> str:
        return (
            f"create user if not exists '{USER}'@'{LOOPBACK}' identified by '{password}';\n"
            f"grant all on *.* to '{USER}'@'{LOOPBACK}' with grant option;\n"
        )

    def start(self, directory: Path) -> Running:
        password = secrets.token_hex(16)
        self._initialise(directory)
        write_private(directory / "init.sql", self._accounts(password), self.account())

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

    def _serve(self, directory: Path, port: int, password: str) -> Running:
        pid = spawn(
            [
                *self._server(directory),
                *(f"--bind-address={LOOPBACK}", f"--port={port}", "--skip-name-resolve"),
                # Relative to the data directory: a full path may be longer than sockets allow.
                *("--socket=server.sock", "--pid-file=server.pid"),
                f"--init-file={directory / 'init.sql'}",
                *("--server-id=1", "--log-bin=binlog", "--binlog-row-metadata=FULL"),
                "--default-time-zone=+00:00",
                # The data is thrown away with the server: no need to flush each commit to disk.
                *("--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0"),
                *self.options,
            ],
            directory=directory,
            account=self.account(),
        )
        running = Running(
            name=self.name,
            host=LOOPBACK,
            port=port,
            ports={"sql": port},
            data_dir=directory / "data",
            pid=pid,
            facts={"user": USER, "password": password},
        )
        await_answer(pid, directory=directory, answers=lambda: self.is_ours(running))
        return running


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
