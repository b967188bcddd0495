"""Genuine MySQL, which Debian has in its unstable suite only: unpacked into a folder of ours.

It runs from there with the libraries it came with, so the machine's own packages stay untouched.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.services.account import Account
from tests.services.cache import cached
from tests.services.install import program, run_installer
from tests.services.mysql_family import MySQLFamily, client
from tests.services.process import must_run
from tests.services.service import CannotInstall

SUITE = "sid"
PACKAGES = ("mmdebstrap",)


@dataclass(frozen=True, slots=True)
class MySQL(MySQLFamily):
    name = "mysql"
    options = (
        *("--mysqlx=OFF", "--gtid-mode=ON", "--enforce-gtid-consistency=ON"),
        *("--local-infile=ON", "--performance-schema=OFF"),
    )

    def install(self) -> None:
        client()
        self._root()

    def account(self) -> Account | None:
        """None: only we can enter the folder it is installed in.

        As root it reads and writes no files for SQL (`secure-file-priv`).
        """
        return None

    def _initialise(self, directory: Path) -> None:
        must_run([*self._server(directory), "--initialize-insecure"], directory=directory)

    def _accounts(self, password: str) -> str:
        # Root has no password yet, and gets in by nothing but the socket.
        root = f"alter user 'root'@'localhost' identified by '{password}';\n"
        return MySQLFamily._accounts(self, password) + root

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
