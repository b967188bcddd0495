"""PostgreSQL, ready for logical decoding."""

from __future__ import annotations

import secrets
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tests.services.account import Account, unprivileged, write_private
from tests.services.home import Home
from tests.services.install import apt_install, find_program, python_client
from tests.services.ports import LOOPBACK, PortPicker, free_ports, on_free_ports
from tests.services.process import await_answer, must_run, run_tool, spawn, terminate
from tests.services.service import CannotInstall, Running

VERSION = "15"
PACKAGES = (f"postgresql-{VERSION}", f"postgresql-{VERSION}-wal2json")
# Debian keeps the servers of all versions side by side, off the PATH.
DEBIAN_FOLDER = Path("/usr/lib/postgresql")
SUPERUSER = "postgres"
OUTPUT_PLUGINS = ("pgoutput", "test_decoding", "wal2json")


@dataclass(frozen=True, slots=True)
class Postgres:
    home: Home
    pick_ports: PortPicker = free_ports

    name: ClassVar[str] = "postgres"

    def install(self) -> None:
        client()
        if _programs() is None:
            apt_install(PACKAGES, stamps=self.home.installs, why="PostgreSQL is not installed")

    def account(self) -> Account | None:
        return unprivileged("postgres")

    def start(self, directory: Path) -> Running:
        password = secrets.token_hex(16)
        self._initialise(directory, password)
        settings = self._settings(directory)

        def serve(ports: tuple[int, ...]) -> Running:
            return self._serve(directory, ports[0], password, settings)

        return on_free_ports(1, serve, pick=self.pick_ports)

    def is_ours(self, running: Running) -> bool:
        psycopg = client()
        try:
            with psycopg.connect(running.facts["dsn"], connect_timeout=5) as connection:
                row = connection.execute("show data_directory").fetchone()
        except (psycopg.Error, OSError):
            return False
        return row is not None and row[0] == str(running.data_dir)

    def stop(self, running: Running) -> None:
        # SIGTERM would wait for the clients to leave; SIGINT is the fast shutdown.
        terminate(running.pid, signal.SIGINT)

    def _initialise(self, directory: Path, password: str) -> None:
        account, password_file = self.account(), directory / "password"
        write_private(password_file, password, account)
        must_run(
            [
                *(_tool("initdb"), "--pgdata", directory / "data", "--username", SUPERUSER),
                *("--auth", "scram-sha-256", "--pwfile", password_file),
                *("--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync"),
            ],
            directory=directory,
            account=account,
        )

    def _settings(self, directory: Path) -> dict[str, str]:
        settings = {
            "listen_addresses": LOOPBACK,
            # No socket file: its path may be longer than the kernel allows, and TCP is enough.
            "unix_socket_directories": "",
            "timezone": "UTC",
            "wal_level": "logical",
            "max_wal_senders": "20",
            "max_replication_slots": "20",
            "shared_buffers": "64MB",
            # The data is thrown away with the server, so nothing has to survive a power cut.
            "fsync": "off",
            "full_page_writes": "off",
        }
        # From 15.19 on only listed plugins may decode; older servers do not know the setting and
        # refuse to start with it.
        if self._knows("output_plugin_libraries", directory):
            settings["output_plugin_libraries"] = ",".join(OUTPUT_PLUGINS)
        return settings

    def _knows(self, setting: str, directory: Path) -> bool:
        asked = run_tool(
            [_tool("postgres"), "-D", directory / "data", "-C", setting],
            directory=directory,
            account=self.account(),
        )
        return asked.returncode == 0

    def _serve(
        self, directory: Path, port: int, password: str, settings: dict[str, str]
    ) -> Running:
        options = [f"--{name}={value}" for name, value in settings.items()]
        data = directory / "data"
        pid = spawn(
            [_tool("postgres"), "-D", data, "-p", str(port), *options],
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
            facts={
                "user": SUPERUSER,
                "password": password,
                "database": SUPERUSER,
                "dsn": f"postgresql://{SUPERUSER}:{password}@{LOOPBACK}:{port}/{SUPERUSER}",
            },
        )
        await_answer(pid, directory=directory, answers=lambda: self.is_ours(running))
        return running


def client() -> Any:
    return python_client("psycopg", "psycopg[binary]")


def _tool(name: str) -> Path:
    programs = _programs()
    if programs is None:
        raise CannotInstall("PostgreSQL is missing even after installing " + " ".join(PACKAGES))
    return programs / name


def _programs() -> Path | None:
    """The folder with the server's programs: the PATH's choice, else 15, else the newest."""
    complete = (
        folder
        for folder in _candidates()
        if all((folder / name).exists() for name in ("postgres", "initdb"))
    )
    return next(complete, None)


def _candidates() -> Iterator[Path]:
    on_path = find_program("initdb")
    if on_path is not None:
        yield on_path.resolve().parent
    yield DEBIAN_FOLDER / VERSION / "bin"
    versions = [folder for folder in DEBIAN_FOLDER.glob("*") if folder.name.isdigit()]
    for folder in sorted(versions, key=lambda folder: int(folder.name), reverse=True):
        yield folder / "bin"
