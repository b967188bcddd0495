"""Getting programs onto the machine: Debian packages, Maven jars, Go binaries, Python clients.

Where each comes from is the machine's configuration (apt sources, Maven settings, GOPROXY), never
ours: the caller's environment is passed on, and no host is named here.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.services.lock import exclusive
from tests.services.process import boot_id
from tests.services.service import CannotInstall

# Servers are installed there, and the PATH of an ordinary user often lacks it.
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
APT_LISTS = Path("/var/lib/apt/lists")


def find_program(name: str, *folders: str | Path) -> Path | None:
    """The program `name` from PATH, the system's folders or `folders`."""
    path = os.pathsep.join(
        [os.environ.get("PATH", os.defpath), *SYSTEM_FOLDERS, *map(str, folders)]
    )
    found = shutil.which(name, path=path)
    return Path(found) if found else None


def program(name: str, *, packages: Sequence[str], stamps: Path) -> Path:
    """The program `name`, from Debian `packages` if the machine does not have it yet."""
    found = find_program(name)
    if found is None:
        apt_install(packages, stamps=stamps, why=f"{name} is not on this machine")
        found = find_program(name)
    if found is None:
        raise CannotInstall(f"{name} is missing even after installing {' '.join(packages)}")
    return found


def apt_install(packages: Sequence[str], *, stamps: Path, why: str) -> None:
    """Install Debian packages as root; say what an administrator would have to do otherwise."""
    command = f"apt-get install --no-install-recommends {' '.join(packages)}"
    apt = shutil.which("apt-get")
    if apt is None:
        raise CannotInstall(f"{why} and it has no apt-get to install {' '.join(packages)}")
    if os.geteuid() != 0:
        raise CannotInstall(f"{why} and only root can install it: {command}")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    wait = ("-o", "DPkg::Lock::Timeout=300")
    with exclusive(stamps / "apt.lock"):
        _update_lists(apt, stamp=stamps / "apt-updated", env=quiet)
        install = [apt, *wait, "install", "-y", "--no-install-recommends", *packages]
        run_installer(install, why=f"{why} and {command} failed", env=quiet)


def _update_lists(apt: str, *, stamp: Path, env: Mapping[str, str]) -> None:
    """Fetch the package lists at most once per boot; an image may come without any at all."""
    fresh = stamp.exists() and stamp.read_text() == boot_id()
    if fresh and any(APT_LISTS.glob("*_Packages*")):
        return
    run_installer([apt, "update"], why="apt-get update failed", env=env)
    stamp.write_text(boot_id())


def maven_jars(pom: Path, into: Path, *, maven: Path) -> None:
    """Copy the dependencies of `pom`, and theirs, into a folder."""
    run_installer(
        [
            *("nice", "-n", "10", str(maven), "--quiet", "--batch-mode", "--file", str(pom)),
            *("dependency:copy-dependencies", f"-DoutputDirectory={into}"),
        ],
        why=f"maven could not fetch the jars of {pom.name}",
    )


def go_install(package: str, into: Path) -> None:
    """Compile a pinned Go program into a folder.

    Not from Debian's Go, which is older than such programs ask for: with no `go` on the machine
    the answer is that it has to be installed by hand.
    """
    go = find_program("go", "/usr/local/go/bin")
    if go is None:
        raise CannotInstall(f"go is not on this machine, needed to compile {package}")
    run_installer(
        ["nice", "-n", "10", str(go), "install", "-ldflags=-s -w", package],
        why=f"go could not compile {package}",
        # No C compiler needed, and the binary runs wherever the cache is carried to.
        env={"GOBIN": str(into), "CGO_ENABLED": "0"},
    )


def python_client(module: str, requirement: str) -> Any:
    """Import the ordinary Python client of a server, only once somebody needs that server."""
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise CannotInstall(f"{missing}; pip install '{requirement}'") from missing


def run_installer(argv: Sequence[str], *, why: str, env: Mapping[str, str] | None = None) -> None:
    """Run a program to its end; `CannotInstall` with its last words if it fails."""
    done = subprocess.run(
        argv,
        env={**os.environ, **(env or {})},
        # Root's working directory may be closed to the accounts that apt steps down to.
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CannotInstall(f"{why}: {done.stdout[-2000:].strip()}")
