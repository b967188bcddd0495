"""docs/dependencies.md names every dependency, with the licence that it declares itself."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from itertools import chain, pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGE = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
CLASSIFIERS = {
    "GPLv2 (classpath exception)": "GNU General Public License v2 (GPLv2)",
    "BSD": "BSD License",
    "MIT": "MIT License",
}


def declared() -> set[str]:
    extras = PROJECT["optional-dependencies"].values()
    texts = [*PROJECT["dependencies"], *chain.from_iterable(extras)]
    names = {re.split(r"[\[<>=~;\s]", text, maxsplit=1)[0] for text in texts}
    return names - {"ematix-flow"}


def listed() -> dict[str, str]:
    """The licence that the page gives each package: the cell after its name."""
    names = declared()
    found = {}
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        for name, licence in pairwise(cells):
            if name in names and len(cells) > 2 and name not in found:
                found[name] = licence
    return found


def test_every_dependency_is_listed_and_no_other():
    assert listed().keys() == declared()


@pytest.mark.parametrize("name", sorted(declared()))
def test_its_licence_is_what_the_package_says(name):
    try:
        facts = metadata(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not in this environment")
    licence = listed()[name]
    said = [facts.get("License-Expression"), facts.get("License")]
    said += [each.rpartition(" :: ")[2] for each in facts.get_all("Classifier") or ()]
    assert licence in said or CLASSIFIERS.get(licence) in said, said
