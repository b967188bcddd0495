"""The page of promises: what counts as a proof, and what is missed."""

import subprocess
import sys
from pathlib import Path

from tests.conformance.page import page, unproven
from tests.conformance.proofs import Proofs
from tests.conformance.rules import rules

ROOT = Path(__file__).resolve().parents[2]
TESTS = """
import pytest

@pytest.mark.proves("append-once")
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_passes(kind):
    pass

@pytest.mark.proves("truncate-atomic")
def test_fails():
    assert False

@pytest.mark.proves("soft-deletes")
@pytest.mark.xfail(strict=True)
def test_is_a_known_gap():
    assert False

@pytest.mark.proves("hard-deletes")
def test_is_skipped():
    pytest.skip("no server")
"""


def run(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_some.py").write_text(text)
    alone = ("--rootdir", str(folder), "-c", "/dev/null")
    plugins = ("-p", "tests.conformance.plugin", "-p", "no:cacheprovider")
    written = ("--proofs", str(folder / "one.json"), "--conformance", str(folder / "page.md"))
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *alone, *plugins, *written, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_only_what_passed_is_a_proof(tmp_path):
    done = run(tmp_path, TESTS)
    assert done.returncode == 1
    proofs = Proofs.read(tmp_path / "one.json")
    assert proofs.tests == {"append-once": {"test_some.py::test_passes": {"SQLite", "PostgreSQL"}}}
    assert "append-once" not in unproven(proofs)
    assert {"truncate-atomic", "soft-deletes", "hard-deletes"} < {*unproven(proofs)}
    assert "PostgreSQL, SQLite |" in (tmp_path / "page.md").read_text()


def test_a_rule_without_a_proof_fails_the_run(tmp_path):
    done = run(tmp_path, "def test_passes():\n    pass\n")
    assert done.returncode == 1
    assert "conformance: no passing test proves: append-once" in done.stdout


def test_a_rule_that_nobody_named_is_refused(tmp_path):
    text = "import pytest\n@pytest.mark.proves('apend-once')\ndef test_it():\n    pass\n"
    done = run(tmp_path, text)
    assert done.returncode == 4
    assert "proves ['apend-once'], of which no rule is named" in done.stderr


def test_proofs_of_two_engines_are_joined():
    one, other = Proofs(), Proofs()
    one.add("append-once", "tests/a.py::test_b[sqlite]", ["Spark"])
    other.add("append-once", "tests/a.py::test_b[sqlite]", ["Sail"])
    one.join(other)
    assert one.tests == {"append-once": {"tests/a.py::test_b": {"Spark", "Sail"}}}
    assert all(f"**{name}**: " in page(one) for name in rules())
