"""Leases, busyness and stopping, over a real socket and without a JVM."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ematix_flow.engine.server.control import ControlServer, ask, hold, listen
from ematix_flow.engine.server.files import remove_socket_directory, socket_path


class HandClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def now(self) -> datetime:
        return datetime(2024, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds


class Supervised:
    """A control server with a clock and executions that the test sets."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = HandClock()
        self.executions = 0
        self.control = ControlServer(
            listen(path),
            facts={"pid": 7, "port": 9},
            active=self.active,
            clock=self.clock,
        )

    def active(self) -> int:
        return self.executions

    def until(self, leases: int) -> None:
        deadline = time.monotonic() + 5
        while ask(self.path, "status")["leases"] != leases:
            assert time.monotonic() < deadline, f"never came to {leases} leases"


@pytest.fixture
def server() -> Iterator[Supervised]:
    path = socket_path()
    supervised = Supervised(path)
    yield supervised
    supervised.control.close()
    remove_socket_directory(path)
    assert not path.parent.exists()


def test_status_says_who_and_how_busy(server):
    assert ask(server.path, "status") == {
        "ok": True,
        "pid": 7,
        "port": 9,
        "stopping": False,
        "leases": 0,
        "active": 0,
        "idle_seconds": 0.0,
    }


def test_a_lease_lasts_as_long_as_its_connection(server):
    answer, connection = hold(server.path)
    assert answer == {"ok": True, "pid": 7, "port": 9}
    server.until(1)
    connection.close()
    server.until(0)


@pytest.mark.proves("warm-server")
def test_a_server_in_use_refuses_to_stop(server):
    _, connection = hold(server.path)
    server.until(1)
    refusal = ask(server.path, "stop")
    assert (refusal["ok"], refusal["reason"], refusal["leases"]) == (False, "busy", 1)
    assert not server.control.stopping.is_set()
    connection.close()
    server.until(0)
    assert ask(server.path, "stop")["ok"]
    assert server.control.stopping.is_set()


@pytest.mark.proves("warm-server")
def test_work_without_a_lease_also_keeps_it(server):
    server.executions = 2
    assert ask(server.path, "stop")["reason"] == "busy"
    assert not server.control.stop_if_idle_for(0)
    assert ask(server.path, "stop", force=True)["ok"]


def test_no_lease_on_a_server_that_stops(server):
    assert ask(server.path, "stop")["ok"]
    answer, connection = hold(server.path)
    connection.close()
    assert answer == {"ok": False, "reason": "stopping"}
    assert ask(server.path, "status")["stopping"] is True


def test_a_server_that_stops_answers_without_its_spark(server):
    def gone() -> int:
        raise RuntimeError("the JVM is gone")

    _, connection = hold(server.path)
    server.until(1)
    assert ask(server.path, "stop", force=True)["ok"]
    server.control._active = gone
    assert ask(server.path, "status")["stopping"] is True
    assert ask(server.path, "stop")["ok"]
    connection.close()


def test_a_jvm_that_hangs_keeps_nobody_from_a_lease_or_a_forced_stop(server):
    asked, released = threading.Event(), threading.Event()

    def hang() -> int:
        asked.set()
        released.wait(30)
        return 0

    server.control._active = hang
    watching = threading.Thread(target=server.control.idle_seconds)
    watching.start()
    try:
        assert asked.wait(5)
        answer, connection = hold(server.path)
        connection.close()
        assert answer["ok"]
        assert ask(server.path, "stop", force=True)["ok"]
    finally:
        released.set()
        watching.join()


def test_what_nobody_uses_can_be_stopped_and_nothing_else(server):
    _, connection = hold(server.path)
    server.until(1)
    assert not server.control.stop_if_unused()
    connection.close()
    server.until(0)
    assert server.control.stop_if_unused()


def test_idleness_counts_from_the_last_use(server):
    server.clock.seconds += 50
    assert server.control.idle_seconds() == 50
    _, connection = hold(server.path)
    server.until(1)
    server.clock.seconds += 1000
    assert server.control.idle_seconds() == 0
    assert not server.control.stop_if_idle_for(60)
    connection.close()
    server.until(0)
    server.clock.seconds += 59
    assert not server.control.stop_if_idle_for(60)
    server.clock.seconds += 1
    assert server.control.stop_if_idle_for(60)
    assert server.control.stopping.is_set()


@pytest.mark.parametrize("sent", ["nonsense", "stopp"])
def test_an_unknown_command_is_refused(server, sent):
    assert ask(server.path, sent) == {"ok": False, "reason": f"unknown command {sent!r}"}


def test_nobody_at_home_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        ask(tmp_path / "control", "status")
