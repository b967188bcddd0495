"""What every test may use: a project in a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tests.projects import ProjectFolder


@pytest.fixture
def project(tmp_path: Path) -> ProjectFolder:
    """An empty project folder with helpers to fill, load and run it."""
    return ProjectFolder(tmp_path / "project")


@pytest.fixture
def make_project(tmp_path: Path) -> Callable[[str], ProjectFolder]:
    """More project folders, by name."""
    return lambda name: ProjectFolder(tmp_path / name)


@pytest.fixture(autouse=True)
def _no_secrets_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test registers as secret must not be masked in the next."""
    monkeypatch.setattr("ematix_flow._base.redact._secrets", set())


# CI draws the same examples each time; `make soak` draws new ones, and many more.
settings.register_profile("ci", derandomize=True, print_blob=True)
settings.register_profile("soak", max_examples=1000, print_blob=True)
settings.load_profile("soak" if os.environ.get("EMATIX_FLOW_SOAK") else "ci")
