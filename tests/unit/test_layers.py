"""Folders know only what lies below them: the contracts at the end of pyproject.toml."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("importlinter", reason="the checker is not part of the lowest set")

ROOT = Path(__file__).parents[2]
LINT = "from importlinter.cli import lint_imports_command as lint; lint()"


@pytest.mark.proves("layers")
def test_every_contract_between_the_folders_is_kept():
    done = subprocess.run(
        [sys.executable, "-c", LINT, "--no-logo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout
