"""What the server leaves on disk: private, whole, and removed when it is stale."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ematix_flow._base.redact import redact
from ematix_flow.engine.server.control import listen
from ematix_flow.engine.server.files import (
    ServerFiles,
    ServerState,
    alive,
    born,
    remove_socket_directory,
    socket_path,
)
from ematix_flow.engine.server.fingerprint import Fingerprint
from ematix_flow.errors import EngineError

PRINT = Fingerprint(
    ematix_flow="1", pyspark="4.1.4", python="3.11", java="17", conf="c", jars={"a.jar": "s"}
)


def state(**changes) -> ServerState:
    plain = ServerState(
        pid=1,
        born="77",
        nonce="n",
        port=2,
        socket=Path("/tmp/none/control"),
        fingerprint=PRINT,
        connectors=("postgres",),
        started_at="2024-01-01T00:00:00Z",
        idle_minutes=5,
        token="canary-token-4715",
    )
    return replace(plain, **changes)


def test_state_goes_out_and_comes_back(tmp_path):
    files = ServerFiles(tmp_path)
    files.create()
    files.write(state())
    assert files.read() == state()


@pytest.mark.proves("warm-server")
@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"pid": "x"}', "null"])
def test_a_broken_state_file_is_no_server(tmp_path, content):
    files = ServerFiles(tmp_path)
    files.create()
    (files.directory / "server.json").write_text(content)
    assert files.read() is None


@pytest.mark.proves("warm-server")
def test_everything_is_for_its_owner_alone(tmp_path):
    files = ServerFiles(tmp_path)
    files.create()
    files.write(state())
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in files.directory.iterdir()}
    assert modes == {"server.json": 0o600}
    assert stat.S_IMODE(files.directory.stat().st_mode) == 0o700


def test_a_token_never_shows(tmp_path):
    files = ServerFiles(tmp_path)
    files.create()
    files.write(state())
    found = files.read()
    assert found is not None
    assert "canary" not in repr(found)
    assert "canary" not in redact(f"sc://localhost:1/;token={found.token} and {found.token}")


def test_forgetting_removes_what_the_server_left(tmp_path):
    files = ServerFiles(tmp_path)
    files.create()
    socket = socket_path()
    files.write(state(socket=socket))
    files.forget(state(socket=socket))
    assert list(files.directory.iterdir()) == []
    assert not socket.parent.exists()


@pytest.mark.parametrize("newer", [state(pid=99), state(nonce="other")])
def test_forgetting_leaves_a_newer_server_alone(tmp_path, newer):
    files = ServerFiles(tmp_path)
    files.create()
    files.write(newer)
    files.forget(state())
    assert files.read() == newer


def test_a_claim_is_lost_when_it_is_removed_or_replaced(tmp_path):
    files = ServerFiles(tmp_path)
    files.create()
    assert files.lost(state())
    files.write(state())
    assert not files.lost(state())
    (files.directory / "server.json").write_text("{")
    assert not files.lost(state())
    files.write(state(nonce="other"))
    assert files.lost(state())


def test_forgetting_never_removes_a_foreign_directory(tmp_path):
    files = ServerFiles(tmp_path / "state")
    files.create()
    precious = tmp_path / "precious"
    precious.mkdir()
    files.write(state(socket=precious / "control"))
    files.forget(state(socket=precious / "control"))
    assert precious.exists()


def test_socket_paths_are_short_and_private():
    path = socket_path()
    try:
        assert len(str(path)) < 100
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    finally:
        path.parent.rmdir()


def test_a_long_temporary_directory_still_gives_a_short_socket_path(tmp_path, monkeypatch):
    long = tmp_path / ("d" * 100)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    path = socket_path()
    try:
        assert len(str(path)) < 100
        listen(path).close()
    finally:
        remove_socket_directory(path)
    assert list(long.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_another_process_with_the_same_pid_is_not_the_server():
    mine = os.getpid()
    assert state(pid=mine, born=born(mine)).there
    assert not state(pid=mine, born="1").there


def test_alive_tells_the_dead_from_the_living():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert not alive(process.pid)
    assert alive(os.getpid())


def test_a_zombie_is_not_alive():
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, not yet reaped
    assert not alive(process.pid)
    process.wait()


def test_a_place_that_cannot_be_written_is_an_engine_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError, match="cannot write"):
        ServerFiles(tmp_path / "file").create()
