"""Starting once, reusing, healing and stopping, with real servers in a home of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.services import state as states
from tests.services.catalogue import SERVICES
from tests.services.home import VARIABLE, Home
from tests.services.ports import accepts, free_ports
from tests.services.process import identify, spawn
from tests.services.s3 import S3
from tests.services.service import Running, Service
from tests.services.state import State
from tests.services.supervisor import InUse, Supervisor

pytestmark = pytest.mark.services

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Private:
    """A service in a home of its own, beside a server that the home did not start."""

    home: Home
    supervisor: Supervisor
    service: Service
    foreign: Running

    def state(self) -> State:
        found = states.load(self.home.state_file(self.service.name))
        assert found is not None
        return found

    def write(self, state: State) -> None:
        states.save(self.home.state_file(self.service.name), state)


@pytest.fixture(scope="module")
def private_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """An empty home that borrows the installed programs, which are slow to build."""
    home = Home(tmp_path_factory.mktemp("services").resolve())
    (home.root / "installs").symlink_to(Home.from_environment().installs)
    return home


@pytest.fixture(scope="module", params=sorted(SERVICES))
def private(request: pytest.FixtureRequest, private_home: Home) -> Iterator[Private]:
    foreign = request.getfixturevalue(request.param)
    service = SERVICES[request.param](private_home)
    # Short: some tests here make it wait for a proof that never comes.
    supervisor = Supervisor(private_home, patience=1.0)
    yield Private(home=private_home, supervisor=supervisor, service=service, foreign=foreign)
    supervisor.stop(service)


def test_a_second_start_returns_the_same_server(private: Private) -> None:
    first = private.supervisor.start(private.service)
    assert private.supervisor.start(private.service) == first
    assert private.supervisor.status(private.service) == first
    assert first.pid != private.foreign.pid


def test_a_killed_server_is_replaced(private: Private) -> None:
    first = private.supervisor.start(private.service)
    directory = private.state().directory
    os.kill(first.pid, signal.SIGKILL)
    second = private.supervisor.start(private.service)
    assert second.pid != first.pid
    assert private.service.is_ours(second)
    assert not directory.exists()


def test_a_reused_pid_is_not_taken_for_the_server(private: Private, bystander: int) -> None:
    first = private.supervisor.start(private.service)
    state = private.state()
    assert state.process is not None
    private.service.stop(first)
    reused = replace(state.process, pid=bystander)
    private.write(replace(state, running=replace(first, pid=bystander), process=reused))
    second = private.supervisor.start(private.service)
    assert private.service.is_ours(second)
    assert identify(bystander) is not None


@pytest.mark.proves("services-real")
def test_a_foreign_server_on_the_recorded_port_is_refused(private: Private) -> None:
    ours = private.supervisor.start(private.service)
    # The worst case: the foreign server even accepts our credentials.
    misled = replace(
        ours, port=private.foreign.port, ports=private.foreign.ports, facts=private.foreign.facts
    )
    if "cluster_id" in ours.facts:
        own = {"cluster_id": ours.facts["cluster_id"]}
        misled = replace(misled, facts={**private.foreign.facts, **own})
    private.write(replace(private.state(), running=misled))
    assert private.supervisor.status(private.service) is None
    again = private.supervisor.start(private.service)
    assert again.port != private.foreign.port
    assert again.pid != private.foreign.pid
    assert identify(ours.pid) is None, "the server it replaced must not stay behind"
    assert private.service.is_ours(private.foreign)


@pytest.mark.proves("services-real")
def test_a_foreign_process_in_the_state_file_is_neither_used_nor_ended(private: Private) -> None:
    ours = private.supervisor.start(private.service)
    state = private.state()
    private.service.stop(ours)
    process = identify(private.foreign.pid)
    private.write(replace(state, running=private.foreign, process=process))
    assert private.supervisor.status(private.service) is None
    again = private.supervisor.start(private.service)
    assert again.pid != private.foreign.pid
    assert identify(private.foreign.pid) == process
    assert private.service.is_ours(private.foreign)


def test_a_lost_race_for_a_port_is_run_again(private: Private) -> None:
    """The first ports offered belong to the foreign server, as if it had just taken them."""
    private.supervisor.stop(private.service)
    offers = [tuple(private.foreign.ports.values())]

    def pick(count: int) -> tuple[int, ...]:
        return offers.pop() if offers else free_ports(count)

    racing = _with_ports(private.service, pick)
    running = private.supervisor.start(racing)
    assert not offers
    assert not set(running.ports.values()) & set(private.foreign.ports.values())
    assert private.service.is_ours(running)


def test_stop_ends_the_process_and_removes_its_files(private: Private) -> None:
    running = private.supervisor.start(private.service)
    directory = private.state().directory
    assert private.supervisor.stop(private.service)
    assert identify(running.pid) is None
    assert not any(accepts(port) for port in running.ports.values())
    assert not directory.exists()
    assert not private.home.state_file(private.service.name).exists()
    assert private.supervisor.status(private.service) is None
    assert not private.supervisor.stop(private.service)


# What does not depend on the server is tried with the quickest one.


@pytest.fixture
def light(s3: Running, tmp_path: Path) -> Iterator[Private]:
    home = Home(tmp_path.resolve())
    (home.root / "installs").symlink_to(Home.from_environment().installs)
    service, supervisor = S3(home), Supervisor(home, patience=1.0)
    yield Private(home=home, supervisor=supervisor, service=service, foreign=s3)
    supervisor.stop(service)


def test_a_server_in_use_is_not_stopped(light: Private) -> None:
    with light.supervisor.lease(light.service) as running:
        with pytest.raises(InUse):
            light.supervisor.stop(light.service)
        assert light.service.is_ours(running)
    assert light.supervisor.stop(light.service)


def test_two_processes_start_one_server(light: Private) -> None:
    commands = [_command(light.home, "start", "s3") for _ in range(3)]
    reports = [json.loads(command.communicate(timeout=60)[0]) for command in commands]
    assert {report["state"] for report in reports} == {"running"}
    assert len({report["pid"] for report in reports}) == 1


def test_the_command_line_reports_and_stops(light: Private) -> None:
    running = light.supervisor.start(light.service)
    status = _command(light.home, "status", "s3")
    assert json.loads(status.communicate(timeout=60)[0])["pid"] == running.pid
    assert status.returncode == 0
    stop = _command(light.home, "stop", "s3")
    assert json.loads(stop.communicate(timeout=60)[0]) == {"name": "s3", "state": "stopped"}
    gone = _command(light.home, "status", "s3")
    assert json.loads(gone.communicate(timeout=60)[0]) == {"name": "s3", "state": "absent"}
    assert gone.returncode == 1


def test_what_a_killed_test_run_left_half_started_is_ended(light: Private) -> None:
    """As after SIGKILL between the server's start and the moment it is known to answer."""
    directory = light.home.new_directory("s3", "token", None)
    light.write(State(token="token", directory=directory))
    script = directory / "server.sh"
    script.write_text("while :; do sleep 1; done\n")
    left_behind = spawn(["sh", script], directory=directory)
    light.supervisor.start(light.service)
    assert identify(left_behind) is None
    assert not directory.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"token": "t"}', '{"running": 1}'])
def test_an_unreadable_state_file_counts_as_none(light: Private, content: str) -> None:
    path = light.home.state_file("s3")
    path.write_text(content)
    assert light.supervisor.status(light.service) is None
    assert light.service.is_ours(light.supervisor.start(light.service))


def test_state_files_are_closed_to_others(light: Private) -> None:
    light.supervisor.start(light.service)
    path = light.home.state_file("s3")
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


@pytest.fixture
def bystander() -> Iterator[int]:
    """The pid of a process that has nothing to do with any server."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process.pid
        process.kill()


def _with_ports(service: Service, pick: Any) -> Service:
    # Every service takes the picker as a field; the Protocol does not name it for tests alone.
    return replace(service, pick_ports=pick)  # type: ignore[type-var]


def _command(home: Home, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.services", *words, "--json"],
        cwd=REPOSITORY,
        env={**os.environ, VARIABLE: str(home.root)},
        stdout=subprocess.PIPE,
        text=True,
    )
