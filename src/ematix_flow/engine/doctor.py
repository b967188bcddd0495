"""Can this machine run a pipeline? Looked at, not tried: no JVM is started."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ematix_flow._version import __version__
from ematix_flow.engine.choice import EngineChoice
from ematix_flow.engine.host.cache import cache_directory
from ematix_flow.engine.host.installed import package_of
from ematix_flow.engine.host.java import find_java
from ematix_flow.engine.host.machine import GIB, this_machine
from ematix_flow.engine.server.server import status
from ematix_flow.engine.spark.connect import preflight
from ematix_flow.errors import FlowError
from ematix_flow.observe.check import Check, Health


def engine_checks(choice: EngineChoice, state_directory: Path, *, needed: bool) -> Iterator[Check]:
    """Look at everything a run on *choice* needs.

    :param needed: Whether a run surely needs the engine; else what is wrong with it is a note.
    """
    machine = this_machine()
    yield _ok("ematix-flow", __version__)
    yield _ok("python", f"{platform.python_version()} ({sys.executable})")
    yield _ok(
        "machine", f"{machine.cores} cores, {machine.memory_bytes / GIB:.1f} GiB for this process"
    )
    yield _ok("engine", f"{choice.address}: {choice.why}")
    for check in _engine(choice):
        yield check if needed else _noted(check)
    if choice.kind == "local":
        yield _warm_server(state_directory)
    yield _writable("cache", cache_directory())
    yield _writable("project state", state_directory)


def _engine(choice: EngineChoice) -> Iterator[Check]:
    yield _spark(choice)
    if choice.kind in ("local", "master"):
        yield _java()
    if choice.kind == "connect":
        yield _reachable(choice)


def _noted(check: Check) -> Check:
    if check.health is not Health.PROBLEM:
        return check
    finding = f"{check.finding}; a load between databases may do without (`flow plan` tells)"
    return replace(check, health=Health.NOTE, finding=finding)


def _spark(choice: EngineChoice) -> Check:
    found = {name: _version(name) for name in ("pyspark", "pyspark-client", "pysail")}
    shown = ", ".join(f"{name} {number}" for name, number in found.items() if number)
    if found["pyspark"] and found["pyspark-client"]:
        return _problem(
            "spark",
            f"{shown}: pyspark and pyspark-client overwrite each other's files",
            "pip uninstall pyspark-client, then pip install --force-reinstall pyspark",
        )
    package, extra = package_of(choice.kind)
    if choice.kind == "connect" and (found["pyspark"] or found["pyspark-client"]):
        return _ok("spark", shown)
    if not found[package]:
        return _problem(
            "spark",
            f"{package} is not installed" + (f" (found {shown})" if shown else ""),
            f"pip install 'ematix-flow[{extra}]'",
        )
    return _ok("spark", shown)


def _java() -> Check:
    try:
        return _ok("java", str(find_java()))
    except FlowError as error:
        return _problem("java", error.what, error.hint)


def _reachable(choice: EngineChoice) -> Check:
    try:
        preflight(choice.target)
    except FlowError as error:
        return _problem("server", error.what, error.hint)
    return _ok("server", f"something listens at {choice.address}")


def _warm_server(state_directory: Path) -> Check:
    found = status(state_directory)
    match found.standing:
        case "up":
            return _ok("warm server", f"up at {found.address} (process {found.pid})")
        case "down":
            return Check(
                name="warm server",
                health=Health.NOTE,
                finding="not started; each run starts its own Spark",
                hint="`flow engine start` makes the next runs quicker",
            )
        case other:
            return _problem(
                "warm server", f"{other} (process {found.pid})", "flow engine stop --force"
            )


def _writable(name: str, directory: Path) -> Check:
    place = directory
    while not place.exists():
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK):
        return _problem(name, f"{directory} cannot be written", f"make {place} writable")
    return _ok(name, str(directory))


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _ok(name: str, finding: str) -> Check:
    return Check(name=name, health=Health.OK, finding=finding)


def _problem(name: str, finding: str, hint: str | None) -> Check:
    return Check(name=name, health=Health.PROBLEM, finding=finding, hint=hint)
