"""Genuine MySQL, which Debian has in its unstable suite only: unpacked into a folder of ours.

It runs from there with the libraries it came with, so the machine's own packages stay untouched.
"""

from __future__ import annotations

import os
import platform
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tests.services.account import Account, write_private
from tests.services.cache import cached
from tests.services.home import Home
from tests.services.install import program, run_installer
from tests.services.mariadb import USER, client, connect
from tests.services.ports import LOOPBACK, PortPicker, free_ports, on_free_ports
from tests.services.process import await_answer, must_run, spawn, terminate
from tests.services.service import CannotInstall, Running

SUITE = "sid"
PACKAGES = ("mmdebstrap",)


@dataclass(frozen=True, slots=True)
class MySQL:
    home: Home
    pick_ports: PortPicker = free_ports

    name: ClassVar[str] = "mysql"

    def install(self) -> None:
        client()
        self._root()

    def account(self) -> Account | None:
        """None: only we can enter the folder it is installed in.

        As root it reads and writes no files for SQL (`secure-file-priv`).
        """
        return None

    def start(self, directory: Path) -> Running:
        password = secrets.token_hex(16)
        must_run([*self._server(directory), "--initialize-insecure"], directory=directory)
        write_private(
            directory / "init.sql",
            f"create user if not exists '{USER}'@'{LOOPBACK}' identified by '{password}';\n"
            f"grant all on *.* to '{USER}'@'{LOOPBACK}' with grant option;\n"
            # It has no password yet, and gets in by nothing but the socket.
            f"alter user 'root'@'localhost' identified by '{password}';\n",
            None,
        )

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
                *("--socket=server.sock", "--pid-file=server.pid", "--mysqlx=OFF"),
                f"--init-file={directory / 'init.sql'}",
                *("--server-id=1", "--log-bin=binlog", "--gtid-mode=ON"),
                *("--enforce-gtid-consistency=ON", "--binlog-row-metadata=FULL"),
                *("--local-infile=ON", "--default-time-zone=+00:00", "--performance-schema=OFF"),
                # The data is thrown away with the server: no need to flush each commit to disk.
                *("--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0"),
            ],
            directory=directory,
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

    def _server(self, directory: Path) -> list[str | Path]:
        root = self._root()
        runs_as_root = ["--user=root"] if os.geteuid() == 0 else []
        return [
            *(root / "loader", "--library-path", root / "lib", root / "mysqld", "--no-defaults"),
            *runs_as_root,
            *(f"--basedir={root}", f"--lc-messages-dir={root / 'share'}"),
            *(f"--character-sets-dir={root / 'share' / 'charsets'}", "--secure-file-priv=NULL"),
            f"--datadir={directory / 'data'}",
        ]

    def _root(self) -> Path:
        return cached(self.home.installs / f"mysql-{SUITE}", self._unpack)

    def _unpack(self, into: Path) -> None:
        """Keep the server, its libraries and its messages; the rest of the packages is not used."""
        tool = program("mmdebstrap", packages=PACKAGES, stamps=self.home.installs)
        whole = into / "whole"
        run_installer(
            [
                *(str(tool), "--quiet", "--variant=extract", "--include=mysql-server-core"),
                # An unstable suite may be a mirror's older copy.
                *("--aptopt=Acquire::Check-Valid-Until false", "--aptopt=APT::Sandbox::User root"),
                *(SUITE, str(whole), f"deb {_debian()} {SUITE} main"),
            ],
            why="mmdebstrap could not unpack MySQL",
        )
        usr, machine = whole / "usr", f"{platform.machine()}-linux-gnu"
        loader = next((usr / "lib" / machine).glob("ld-linux*.so.*"))
        shutil.copy(loader.resolve(), into / "loader")
        shutil.copy(usr / "sbin" / "mysqld", into / "mysqld")
        shutil.copytree(usr / "share" / "mysql", into / "share")
        (into / "lib").mkdir()
        for library in _libraries(into / "loader", usr / "lib" / machine, into / "mysqld"):
            shutil.copy(library.resolve(), into / "lib" / library.name)
        shutil.rmtree(whole)


def _debian() -> str:
    """Where this machine gets Debian from."""
    asked = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(LABEL)"],
        capture_output=True,
        check=False,
        text=True,
    )
    for line in asked.stdout.splitlines():
        place, _, label = line.partition(" ")
        if label == "Debian":
            return place
    raise CannotInstall("this machine has no Debian among its package sources")


def _libraries(loader: Path, folder: Path, server: Path) -> list[Path]:
    listed = subprocess.run(
        [loader, "--library-path", folder, "--list", server],
        capture_output=True,
        check=True,
        text=True,
    )
    # A line names a library, then an arrow, then the file.
    words = (line.split() for line in listed.stdout.splitlines())
    return [Path(found[2]) for found in words if "=>" in found and found[2].startswith("/")]
