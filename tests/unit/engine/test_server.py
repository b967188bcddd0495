"""What start, stop and use make of a server in every standing; without a JVM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ematix_flow._base.clock import SystemClock
from ematix_flow.engine.host.java import Java
from ematix_flow.engine.server import lease as server_lease
from ematix_flow.engine.server import server
from ematix_flow.engine.server.control import ControlServer, ask, listen
from ematix_flow.engine.server.files import (
    ServerFiles,
    ServerState,
    alive,
    born,
    remove_socket_directory,
    socket_path,
)
from ematix_flow.engine.server.lease import use
from ematix_flow.engine.server.process import _Word
from ematix_flow.engine.server.status import look
from ematix_flow.errors import EngineError
from tests.unit.engine.test_server_files import PRINT, state


class Wants:
    """As much of `SparkNeeds` as is asked for here."""

    connectors = ()
    java = Java(home=Path("/none"), version=17, origin="a test")

    def fingerprint(self) -> Any:
        return PRINT

    def conf_for(self, _: tuple[str, ...]) -> Any:
        from ematix_flow.engine.spark.classic_conf import ClassicConf

        return ClassicConf(master="local[1]", values={}, session={})


WANTS: Any = Wants()


@pytest.fixture
def files(tmp_path: Path) -> ServerFiles:
    found = ServerFiles(tmp_path)
    found.create()
    return found


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def claim(files: ServerFiles, child: subprocess.Popen[bytes]) -> Iterator[ServerState]:
    """A claim of a process that is there; nobody answers on its socket."""
    claimed = state(pid=child.pid, born=born(child.pid), socket=socket_path())
    files.write(claimed)
    yield claimed
    remove_socket_directory(claimed.socket)


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


@pytest.mark.proves("warm-server")
def test_a_process_without_its_socket_is_left_alone_and_the_run_embeds(files, claim):
    assert look(files, claim, None).standing == "unresponsive"
    lease, notes = use(files.state_dir, WANTS)
    assert lease is None
    assert f"the warm server (pid {claim.pid}) does not answer" in notes[0]
    assert files.read() == claim
    with pytest.raises(EngineError, match="does not answer"):
        server.start(files.state_dir, WANTS)
    assert files.read() == claim


@pytest.mark.proves("warm-server")
def test_a_server_whose_process_is_gone_is_removed(files, claim, child):
    end(child)
    lease, notes = use(files.state_dir, WANTS)
    assert lease is None
    assert notes == (f"the warm server (pid {claim.pid}) is gone; its state was removed",)
    assert files.read() is None
    assert not claim.socket.parent.exists()


@pytest.mark.parametrize("raised", [OSError("no"), ConnectionResetError(), EngineError("no")])
@pytest.mark.usefixtures("claim")
def test_whatever_healing_meets_the_run_embeds(files, monkeypatch, raised):
    def fail(*_: Any) -> Any:
        raise raised

    monkeypatch.setattr(server_lease, "look", fail)
    lease, notes = use(files.state_dir, WANTS)
    assert lease is None
    assert len(notes) == 1


@pytest.fixture
def control(claim: ServerState) -> Iterator[ControlServer]:
    answering = ControlServer(
        listen(claim.socket), facts={"pid": claim.pid}, active=lambda: 0, clock=SystemClock()
    )
    yield answering
    answering.close()


@pytest.mark.parametrize("raised", [ConnectionResetError(), FileNotFoundError()])
@pytest.mark.usefixtures("control")
def test_a_server_that_goes_while_it_is_asked_is_gone(files, child, monkeypatch, raised):
    def gone(*_: Any, **__: Any) -> Any:
        end(child)
        raise raised

    monkeypatch.setattr(server, "ask", gone)
    assert server.stop(files.state_dir).standing == "down"
    assert files.read() is None


@pytest.mark.usefixtures("control")
def test_a_server_that_does_not_answer_a_stop_is_one_clear_error(files, claim, monkeypatch):
    def mute(*_: Any, **__: Any) -> Any:
        raise TimeoutError

    monkeypatch.setattr(server, "ask", mute)
    with pytest.raises(EngineError, match="does not answer"):
        server.stop(files.state_dir)
    assert files.read() == claim


def test_a_start_waits_for_a_server_that_stops_and_starts_another(
    files, claim, child, control, monkeypatch
):
    def stopping(*arguments: Any, **more: Any) -> Any:
        answer = ask(*arguments, **more)
        end(child)
        return answer

    spawned = []
    monkeypatch.setattr(server, "ask", stopping)
    monkeypatch.setattr(server, "spawn", lambda *_: spawned.append(claim.there))
    control.stopping.set()
    assert look(files, claim, WANTS).stopping
    assert use(files.state_dir, WANTS)[1] == ("the warm server was not used: stopping",)
    server.start(files.state_dir, WANTS)
    assert spawned == [False]
    assert files.read() is None


SLOW = """
import os, sys, time
sys.stdin.read()
if child := os.fork():
    with open("pid", "w") as file:
        file.write(str(child))
    os._exit(0)
time.sleep(600)
"""


@pytest.fixture
def supervisor(files: ServerFiles, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], int]]:
    """In place of the supervisor, a process that never comes up."""
    real = subprocess.Popen

    def popen(_: list[str], **options: Any) -> Any:
        return real([sys.executable, "-c", SLOW], **options)

    monkeypatch.setattr(subprocess, "Popen", popen)
    noted = files.directory / "pid"

    def pid() -> int:
        return int(noted.read_text())

    yield pid
    with suppress(OSError, ValueError):
        os.kill(pid(), signal.SIGKILL)


def until_gone(process: int) -> None:
    deadline = time.monotonic() + 10
    while alive(process):
        assert time.monotonic() < deadline


@pytest.mark.slow
def test_a_start_that_takes_too_long_ends_what_it_started(files, supervisor, monkeypatch):
    monkeypatch.setattr(server, "_START_SECONDS", 1.5)
    with pytest.raises(EngineError, match=r"it took longer than 1\.5 s"):
        server.start(files.state_dir, WANTS)
    until_gone(supervisor())


def test_an_interrupted_start_ends_what_it_started(files, supervisor, monkeypatch):
    def interrupted(_: int) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(server, "_word_from", interrupted)
    with pytest.raises(KeyboardInterrupt):
        server.start(files.state_dir, WANTS)
    until_gone(supervisor())


def test_a_supervisor_notices_that_nobody_listens():
    reading, writing = os.pipe()
    said = _Word(writing)
    assert said.heard()
    os.close(reading)
    assert not said.heard()
    said("ready")
    assert not said.heard()
