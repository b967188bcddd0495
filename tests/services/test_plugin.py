"""The plugin in test runs of its own, each a real pytest process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services import state as states
from tests.services.home import VARIABLE, Home
from tests.services.plugin import STOP_VARIABLE
from tests.services.process import identify
from tests.services.s3 import S3
from tests.services.service import Running
from tests.services.supervisor import Supervisor

pytestmark = pytest.mark.services

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    """An empty home with the gateway installed."""
    request.getfixturevalue("s3")  # compiles the gateway, or skips where that is impossible
    made = Home((tmp_path / "home").resolve())
    made.root.mkdir()
    (made.root / "installs").symlink_to(Home.from_environment().installs)
    yield made
    Supervisor(made).stop(S3(made))


def test_a_server_outlives_the_run_and_is_reused_by_the_next(home: Home, tmp_path: Path) -> None:
    assert _run(home, tmp_path).returncode == 0
    first = _recorded(home)
    assert first is not None
    assert _run(home, tmp_path).returncode == 0
    assert _recorded(home) == first
    assert identify(first.pid) is not None


@pytest.mark.parametrize("variable", [{"CI": "true"}, {STOP_VARIABLE: "1"}])
def test_a_server_is_stopped_where_it_is_asked_for(
    home: Home, tmp_path: Path, variable: dict[str, str]
) -> None:
    assert _run(home, tmp_path).returncode == 0
    running = _recorded(home)
    assert running is not None
    assert _run(home, tmp_path, **variable).returncode == 0
    assert identify(running.pid) is None
    assert _recorded(home) is None


def test_a_server_that_another_run_uses_is_left_to_it(home: Home, tmp_path: Path) -> None:
    with Supervisor(home).lease(S3(home)) as running:
        assert _run(home, tmp_path, CI="true").returncode == 0
        assert identify(running.pid) is not None


@pytest.mark.parametrize(("ci", "outcome"), [("", "1 skipped"), ("true", "1 error")])
def test_a_server_that_cannot_be_installed_skips_or_fails_in_ci(
    tmp_path: Path, ci: str, outcome: str
) -> None:
    """Go without a module cache and without a proxy cannot compile anything."""
    offline = {"GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOMODCACHE": str(tmp_path / "modules")}
    run = _run(Home(tmp_path / "empty"), tmp_path, CI=ci, **offline)
    assert outcome in run.stdout
    assert "s3: go could not compile" in run.stdout


def _run(home: Home, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    test = folder / "test_inner.py"
    test.write_text("def test_inner(s3_bucket):\n    assert s3_bucket.name\n")
    cleared = {"CI": "", STOP_VARIABLE: "", VARIABLE: str(home.root)}
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-rs", "-p", "tests.services.plugin"),
            *("-p", "no:cacheprovider", "--rootdir", str(folder), "-c", os.devnull, str(test)),
        ],
        cwd=REPOSITORY,
        env={**os.environ, **cleared, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _recorded(home: Home) -> Running | None:
    state = states.load(home.state_file("s3"))
    return None if state is None else state.running
