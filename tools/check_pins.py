"""Check, offline, that requirements/*.txt still answer pyproject.toml and requirements/*.in.

Every direct requirement must be pinned within its bounds, every pin must carry a hash, files that
share an environment must agree, and no address or machine path may stand in them.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
BACKENDS = ["sqlite", "duckdb", "mysql", "postgres"]
SECRETS = ["vault", "aws", "gcp"]
# File -> extras of pyproject.toml and .in files it was made from; as in tools/lock.sh.
SOURCES: dict[str, tuple[list[str], list[str]]] = {
    "base": ([], []),
    "spark": (["spark"], []),
    "sail": (["sail"], []),
    "java": (["java"], []),
    "duckdb": (["duckdb"], []),
    "mysql": (["mysql"], []),
    "postgres": (["postgres"], []),
    "test": (["spark", *BACKENDS, *SECRETS], ["test"]),
    "dev": (["spark", *BACKENDS, *SECRETS], ["dev"]),
    "lowest": (["spark", *BACKENDS, *SECRETS], ["unit"]),
    "unit": ([], ["unit"]),
    "clients": ([], ["clients"]),
    "build": ([], ["build"]),
    "lock": ([], ["lock"]),
    "tpc": ([], ["tpc"]),
    "airflow": (["sail", "duckdb"], ["airflow"]),
    "orchestrators": (["sail", "duckdb"], ["orchestrators"]),
}
# The peers of the benchmarks.
PEERS = {f"../benchmarks/requirements/{peer}" for peer in ("dlt", "ematix-flow-1")}
SOURCES |= {peer: ([], [peer]) for peer in sorted(PEERS)}
WITHOUT_PROJECT = {"build", "clients", "lock", "tpc", "unit", *PEERS}
OWN_ENVIRONMENT = {"airflow", "lowest", "lock", "orchestrators", "sail", "tpc", *PEERS}
FORBIDDEN = re.compile(r"https?:|--(?:index-url|extra-index-url|find-links)|(?<![\w.])/\w+/")
PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;\\]+)(?P<rest>.*)$")


def read_input(name: str) -> list[Requirement]:
    """Return the requirements of an .in file and of those it includes."""
    found: list[Requirement] = []
    for raw in (FOLDER / f"{name}.in").read_text().splitlines():
        line = raw.split("#")[0].strip()
        if line.startswith("-r "):
            found += read_input(line.removeprefix("-r ").strip().removesuffix(".in"))
        elif line:
            found.append(Requirement(line))
    return found


def read_pins(name: str, problems: list[str]) -> dict[str, set[str]]:
    """Return the pinned versions of each package; markers may give one package several."""
    pins: dict[str, set[str]] = {}
    text = (FOLDER / f"{name}.txt").read_text()
    logical = re.sub(r"\\\n\s*", " ", text)
    for number, line in enumerate(text.splitlines(), 1):
        if FORBIDDEN.search(line):
            problems.append(f"{name}.txt:{number}: an address or a machine path: {line.strip()}")
    for line in logical.splitlines():
        if line.startswith(("#", " ")) or not line:
            continue
        pin = PIN.match(line)
        if pin is None:
            problems.append(f"{name}.txt: not a pin: {line[:80]}")
            continue
        if "--hash=sha256:" not in pin["rest"]:
            problems.append(f"{name}.txt: {pin['name']} has no hash")
        pins.setdefault(canonicalize_name(pin["name"]), set()).add(pin["version"])
    return pins


def read_direct(name: str, project: dict[str, Any]) -> list[Requirement]:
    """Return what the file NAME.txt was asked to pin."""
    extras, inputs = SOURCES[name]
    direct = [requirement for source in inputs for requirement in read_input(source)]
    if name not in WITHOUT_PROJECT:
        texts = list(project["dependencies"])
        for extra in extras:
            texts += project["optional-dependencies"][extra]
        direct += [Requirement(text) for text in texts]
    return direct


def compare(name: str, direct: list[Requirement], pins: dict[str, set[str]]) -> Iterator[str]:
    """Say which direct requirements the pins do not answer."""
    for requirement in direct:
        versions = pins.get(canonicalize_name(requirement.name), set())
        if not versions:
            yield f"{name}.txt: {requirement} is not pinned"
        for version in sorted(versions):
            if not requirement.specifier.contains(version, prereleases=True):
                yield f"{name}.txt: {requirement.name}=={version} does not satisfy {requirement}"


def main() -> int:
    """Print what is wrong with the pins; 1 when anything is."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    problems: list[str] = []
    shared: dict[str, set[str]] = {}
    for name in SOURCES:
        pins = read_pins(name, problems)
        problems += compare(name, read_direct(name, project), pins)
        if name in OWN_ENVIRONMENT:
            continue
        for package, versions in pins.items():
            if shared.setdefault(package, versions) != versions:
                problems.append(f"{name}.txt: {package} is pinned otherwise elsewhere")
    for problem in problems:
        print(problem)
    if problems:
        print("Hint: run `make lock`.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
