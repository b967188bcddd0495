"""The warm server: found, used, given back, stopped, and healed when something is wrong.

One server plays most scenes; those that end it come last or start their own.
"""

from __future__ import annotations

import os
import signal
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from ematix_flow.engine.server.control import ask, hold
from ematix_flow.engine.server.files import ServerFiles, ServerState, alive
from ematix_flow.engine.server.server import status, stop
from ematix_flow.errors import EngineError
from tests.spark import udf_project
from tests.spark.engine import failures
from tests.spark.engine.listening import descendants, listening
from tests.spark.engine.scripts import begin, finish, play

pytestmark = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads /proc")

START = """
from ematix_flow.engine.server.server import start
seen["status"] = start(STATE, wanted(), idle_minutes=IDLE).to_json()
"""


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose sockets' paths are short enough, however deep the tests' own are."""
    with tempfile.TemporaryDirectory(prefix="flow-", dir="/tmp") as folder:
        yield Path(folder)


def until(true: Callable[[], object], what: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.05)


@dataclass(frozen=True)
class Running:
    """A server that is up, and where its state is."""

    state_dir: Path

    @property
    def files(self) -> ServerFiles:
        return ServerFiles(self.state_dir)

    @property
    def state(self) -> ServerState:
        state = self.files.read()
        assert state is not None
        return state


def started(folder: Path, idle_minutes: float = 5) -> Running:
    play(f"IDLE = {idle_minutes}\n{START}", folder / "state")
    return Running(folder / "state")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Two commands start a server at the same moment: there must be one."""
    state = tmp_path_factory.mktemp("warm") / "state"
    both = [begin(f"IDLE = 5\n{START}", state) for _ in range(2)]
    first, second = (finish(process) for process in both)
    assert first.seen["status"]["pid"] == second.seen["status"]["pid"]
    assert first.noise == second.noise == ""
    yield Running(state)
    stop(state, force=True)


def test_it_is_up_and_says_so(server):
    now = status(server.state_dir)
    assert (now.standing, now.leases, now.active) == ("up", 0, 0)
    assert now.pid == server.state.pid
    assert alive(server.state.pid)


def test_it_listens_on_loopback_only(server):
    assert listening(server.state.pid) == ["127.0.0.1"]


@pytest.mark.proves("warm-server")
def test_its_files_are_private(server):
    for path in server.files.directory.iterdir():
        if path.name != "lock":
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert stat.S_IMODE(server.files.directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(server.state.socket.parent.stat().st_mode) == 0o700


@pytest.mark.proves("no-secret")
def test_its_token_is_on_no_command_line_and_in_no_log(server):
    token = server.state.token
    for pid in descendants(server.state.pid):
        for name in ("cmdline", "environ"):
            with suppress(OSError):  # an idle Python worker may just have ended
                assert token.encode() not in Path(f"/proc/{pid}/{name}").read_bytes()
    assert token not in server.files.log.read_text(errors="replace")
    assert token not in str(status(server.state_dir).to_json())


USE = f"""
{failures.CODE}
from ematix_flow.engine.spark.progress import watch
with engine() as opened:
    seen["report"] = opened.report.to_json()
    session = opened.session
    from pyspark.sql import functions as F
    seen["sum"] = session.range(10).select(F.sum(F.col("id"))).collect()[0][0]
    seen["conf"] = session.conf.get("spark.sql.shuffle.partitions")
    session.range(3).createOrReplaceTempView("mine")
    seen["isolated"] = opened.new_session().catalog.tableExists("mine")
    steps = []
    with watch(session, steps.append):
        slow = F.udf(lambda n: time.sleep(1) or n, "long")
        session.range(0, 4, 1, 4).select(slow("id")).collect()
    seen["progress"] = len(steps) > 0 and steps[-1].total_tasks > 0
    seen["failures"] = failures(session)
seen["mode left"] = "SPARK_CONNECT_MODE_ENABLED" in os.environ
"""


@pytest.mark.proves("warm-server")
def test_a_run_uses_it_and_gives_it_back(server):
    scene = play(USE, server.state_dir)
    report = scene.seen["report"]
    assert (report["mode"], report["engine"], report["notes"]) == ("warm", "local", [])
    assert report["address"] == f"sc://localhost:{server.state.port}"
    assert scene.seen["sum"] == 45
    assert scene.seen["conf"] == "2"
    assert scene.seen["isolated"] is False
    assert scene.seen["progress"]
    assert scene.seen["mode left"] is False
    failures.assert_told(scene.seen["failures"])
    assert scene.noise == ""
    until(lambda: not status(server.state_dir).busy, "the lease is given back")


@pytest.mark.proves("udfs")
def test_a_project_brings_its_functions(server, tmp_path):
    folder = udf_project.project_folder(tmp_path / "project")
    code = f"ENGINE, OPTIONS = 'local[2]', {{}}\n{udf_project.USE}"
    scene = play(code, server.state_dir, cwd=folder)
    assert scene.seen["report"]["mode"] == "warm"
    udf_project.assert_used(scene.seen)


def test_a_run_that_dies_gives_its_lease_back_and_its_work_ends(server):
    code = """
with engine() as opened:
    print("ready", flush=True)
    opened.session.sql("SELECT java_method('java.lang.Thread', 'sleep', 60000L)").collect()
"""
    process = begin(code, server.state_dir)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    until(lambda: status(server.state_dir).active == 1, "the run is at work")
    assert status(server.state_dir).leases == 1
    process.kill()
    process.communicate()
    until(lambda: status(server.state_dir).leases == 0, "the lease is given back")
    until(lambda: not status(server.state_dir).busy, "its work is ended", seconds=30)


@pytest.mark.proves("warm-server", "bad-engine")
def test_a_wrong_token_is_refused_in_one_line(server):
    code = f"""
for token in (";token=canary-wrong-token", ""):
    begun = time.monotonic()
    try:
        with engine("sc://localhost:{server.state.port}/" + token):
            pass
    except FlowError as error:
        seen[token] = [type(error).__name__, str(error), time.monotonic() - begun]
"""
    seen = play(code, server.state_dir).seen
    assert set(seen) == {";token=canary-wrong-token", ""}
    for kind, text, seconds in seen.values():
        assert kind == "EngineAuthError"
        assert "canary" not in text
        assert seconds < 10


def test_the_right_token_works_for_a_plain_connect_address(server):
    code = f"""
with engine("sc://localhost:{server.state.port}/;token=" + TOKEN) as opened:
    seen["report"] = opened.report.to_json()
    seen["count"] = opened.session.range(3).count()
"""
    token = server.state.token
    scene = play(f"TOKEN = os.environ['TOKEN']\n{code}", server.state_dir, TOKEN=token)
    assert scene.seen["report"]["mode"] == "remote"
    assert scene.seen["count"] == 3
    assert token not in str(scene)


@pytest.mark.proves("bad-engine")
def test_an_unreachable_address_takes_seconds(tmp_path):
    code = """
begun = time.monotonic()
try:
    with engine("sc://localhost:1"):
        pass
except FlowError as error:
    seen["said"] = [type(error).__name__, str(error), time.monotonic() - begun]
"""
    kind, text, seconds = play(code, tmp_path / "state").seen["said"]
    assert kind == "EngineUnreachable"
    assert "sc://localhost:1" in text
    assert seconds < 10
    assert not (tmp_path / "state").exists()


def test_a_server_that_refuses_a_run_does_not_fail_it(server):
    code = """
import dataclasses
from ematix_flow.engine import opening
real = opening.use
def use(*arguments):
    lease, notes = real(*arguments)
    return dataclasses.replace(lease, url=lease.address + "/;token=canary-wrong-token"), notes
opening.use = use
with engine() as opened:
    seen["report"] = opened.report.to_json()
    seen["count"] = opened.session.range(3).count()
"""
    scene = play(code, server.state_dir)
    assert scene.seen["report"]["mode"] == "embedded"
    (note,) = scene.seen["report"]["notes"]
    assert note.startswith("the warm server did not answer (the Spark Connect server refuses us")
    assert note.endswith("; this run started its own Spark")
    assert scene.seen["count"] == 3
    until(lambda: not status(server.state_dir).busy, "the lease is given back")


@pytest.mark.proves("warm-server")
def test_a_server_whose_jvm_hangs_does_not_hold_a_run_up(server):
    (jvm,) = {
        pid
        for pid in descendants(server.state.pid)
        if b"PythonGatewayServer" in Path(f"/proc/{pid}/cmdline").read_bytes()
        or b"pyspark-shell" in Path(f"/proc/{pid}/cmdline").read_bytes()
    }
    os.kill(jvm, signal.SIGSTOP)
    code = """
with engine() as opened:
    seen["report"] = opened.report.to_json()
"""
    try:
        report = play(code, server.state_dir).seen["report"]
    finally:
        os.kill(jvm, signal.SIGCONT)
    assert report["mode"] == "embedded"
    assert "this run started its own Spark" in report["notes"][0]
    until(lambda: status(server.state_dir).standing == "up", "it answers again")


@pytest.mark.proves("borrowed-session")
def test_a_borrowed_connect_session_leaves_no_clone_behind(server):
    code = f"""
from ematix_flow.engine.spark.session import connect_session
theirs = connect_session("sc://localhost:{server.state.port}/;token=" + os.environ["TOKEN"], {{}})
theirs.conf.set("spark.sql.shuffle.partitions", "9")
before = dict(theirs.conf.getAll)
os.environ["SPARK_LOCAL_REMOTE"] = "1"  # a clone that was stopped would take it for its own
settings = {{"spark.sql.shuffle.partitions": "3", "spark.sql.warehouse.dir": "/none"}}
with borrow(theirs, settings) as lent:
    seen["conf"] = lent.session.conf.get("spark.sql.shuffle.partitions")
    seen["count"] = lent.session.range(4).count()
    lent.session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    seen["during"] = dict(theirs.conf.getAll) == before
seen["closed"] = lent.session.client.is_closed
seen["after"] = [dict(theirs.conf.getAll) == before, before["spark.sql.shuffle.partitions"]]
seen["theirs"] = theirs.range(5).count()
del os.environ["SPARK_LOCAL_REMOTE"]
theirs.stop()
"""
    seen = play(code, server.state_dir, TOKEN=server.state.token).seen
    assert seen == {
        "conf": "3",
        "count": 4,
        "during": True,
        "closed": True,
        "after": [True, "9"],
        "theirs": 5,
    }


@pytest.mark.proves("warm-server")
def test_a_busy_server_is_neither_stopped_nor_replaced(server):
    _, connection = hold(server.state.socket)
    before = server.state
    try:
        with pytest.raises(EngineError, match=r"is busy: 1 run\(s\)"):
            stop(server.state_dir)
        code = """
from ematix_flow.engine.server.lease import use
other = size(SMALL, 1000, {"spark.driver.memory": "1100m"})
lease, notes = use(STATE, wanted(sizing=other))
seen["lease"] = lease is not None
seen["notes"] = notes
"""
        scene = play(code, server.state_dir)
        assert scene.seen["lease"] is False
        assert "busy" in scene.seen["notes"][0]
        assert "settings changed" in scene.seen["notes"][0]
        assert server.state == before
    finally:
        connection.close()


@pytest.mark.proves("warm-server")
def test_an_idle_server_that_does_not_suit_is_replaced_and_used(server):
    until(lambda: not status(server.state_dir).busy, "it is idle")
    before = server.state
    code = """
other = size(SMALL, 1000, {"spark.driver.memory": "1100m"})
with engine(sizing=other) as opened:
    seen["report"] = opened.report.to_json()
    seen["memory"] = opened.session.conf.get("spark.driver.memory")
"""
    scene = play(code, server.state_dir)
    assert scene.seen["report"]["mode"] == "warm"
    assert "restarted: Spark's start-up settings changed" in scene.seen["report"]["notes"][0]
    assert scene.seen["memory"] == "1100m"
    assert server.state.pid != before.pid
    assert not alive(before.pid)
    assert server.state.idle_minutes == before.idle_minutes


@pytest.mark.proves("warm-server")
def test_a_killed_server_is_cleaned_up_and_the_run_embeds(server):
    state = server.state
    family = descendants(state.pid)
    os.kill(state.pid, signal.SIGKILL)
    until(lambda: not any(map(alive, family)), "the JVM goes with its supervisor")
    assert status(server.state_dir).standing == "stale"
    code = """
with engine() as opened:
    seen["report"] = opened.report.to_json()
    seen["count"] = opened.session.range(3).count()
"""
    scene = play(code, server.state_dir)
    assert scene.seen["report"]["mode"] == "embedded"
    assert scene.seen["report"]["notes"] == [
        f"the warm server (pid {state.pid}) is gone; its state was removed"
    ]
    assert scene.seen["count"] == 3
    assert [path.name for path in server.files.directory.iterdir()] == ["lock"]
    assert not state.socket.parent.exists()
    assert status(server.state_dir).standing == "down"


def test_an_idle_server_ends_itself_and_leaves_nothing(tmp_path):
    running = started(tmp_path, idle_minutes=0.02)
    state = running.files.read()
    until(lambda: running.files.read() is None, "it ends")
    if state is not None:
        until(lambda: not alive(state.pid), "it is gone")
        assert not state.socket.parent.exists()
    assert [path.name for path in running.files.directory.iterdir()] == ["lock"]


def test_a_server_whose_project_is_deleted_ends(tmp_path):
    running = started(tmp_path)
    state = running.state
    assert ask(state.socket, "status")["ok"]
    _, connection = hold(state.socket)
    (running.files.directory / "server.json").unlink()
    with pytest.raises(AssertionError):
        until(lambda: not alive(state.pid), "it ends under a run", seconds=3)
    connection.close()
    until(lambda: not alive(state.pid), "it ends")
    assert not state.socket.parent.exists()


def test_an_interrupted_start_leaves_nothing(tmp_path, short_folder):
    process = begin(f"IDLE = 5\n{START}", tmp_path / "state", TMPDIR=str(short_folder))
    log = tmp_path / "state" / "logs" / "server.log"
    until(lambda: log.exists() and len(descendants(process.pid)) > 0, "it begins")
    until(lambda: list(short_folder.glob("ematix-flow-*/control")), "it is under way")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert_nothing_left(tmp_path / "state", short_folder)


def test_a_supervisor_whose_starter_was_killed_ends(tmp_path, short_folder):
    process = begin(f"IDLE = 5\n{START}", tmp_path / "state", TMPDIR=str(short_folder))
    until(lambda: list(short_folder.glob("ematix-flow-*/control")), "it is under way")
    process.kill()
    process.communicate()
    until(lambda: not supervisors(tmp_path / "state"), "it ends")
    assert_nothing_left(tmp_path / "state", short_folder)


def supervisors(state_dir: Path) -> list[int]:
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = line.read_bytes().split(b"\0")
            if b"ematix_flow.engine.server.process" in words and bytes(state_dir) in words:
                found.append(int(line.parent.name))
    return found


def assert_nothing_left(state_dir: Path, temporary: Path) -> None:
    assert status(state_dir).standing == "down"
    assert [path.name for path in (state_dir / "engine").iterdir()] == ["lock"]
    assert not list(temporary.glob("ematix-flow-*"))
    until(lambda: not supervisors(state_dir), "no supervisor is left")


def test_a_server_that_cannot_start_says_why(tmp_path, short_folder):
    code = """
from ematix_flow.engine.server.server import start
bad = size(SMALL, 1000, {"spark.driver.extraJavaOptions": "-javaagent:/no-such-agent.jar"})
try:
    start(STATE, wanted(sizing=bad))
except FlowError as error:
    seen["said"] = str(error)
"""
    scene = play(code, tmp_path / "state", TMPDIR=str(short_folder))
    assert "the warm server did not start: Spark's JVM did not start" in scene.seen["said"]
    assert_nothing_left(tmp_path / "state", short_folder)
