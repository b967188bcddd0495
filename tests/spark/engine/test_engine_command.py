"""`flow engine start | status | stop` as a user types them, on a project with nothing in it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def flow(project: Path, *arguments: str) -> dict:
    done = subprocess.run(
        [sys.executable, "-m", "ematix_flow.cli", *arguments, "--format", "json"],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    assert done.stderr == ""
    return json.loads(done.stdout)["engine"]


def test_start_status_stop(tmp_path):
    try:
        up = flow(tmp_path, "engine", "start", "--idle-minutes", "5", "--engine", "local[2]")
        assert up["standing"] == "up"
        assert up["idle_minutes"] == 5
        assert up["differences"] == []
        assert flow(tmp_path, "engine", "status")["pid"] == up["pid"]
    finally:
        down = flow(tmp_path, "engine", "stop", "--force")
    assert (down["standing"], down["pid"]) == ("down", up["pid"])
    assert flow(tmp_path, "engine", "status")["standing"] == "down"
    left = sorted(path.name for path in (tmp_path / ".ematix-flow" / "engine").iterdir())
    assert left == ["lock"]
