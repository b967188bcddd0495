"""The warm server, seen from outside: start, stop, look.

It is a Spark Connect server on 127.0.0.1 that stays up between runs, so a run
pays neither for a JVM nor for cold code.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from ematix_flow.engine.control import ask
from ematix_flow.engine.fingerprint import fingerprint_of
from ematix_flow.engine.launch import open_log
from ematix_flow.engine.server_files import ServerFiles, ServerState, alive
from ematix_flow.engine.server_status import ServerStatus, look
from ematix_flow.engine.wanted import Wanted
from ematix_flow.errors import EngineError

DEFAULT_IDLE_MINUTES = 30.0
_START_SECONDS = 180.0
_STOP_SECONDS = 60.0
_POLL_SECONDS = 0.05


def start(
    state_dir: Path, wanted: Wanted, *, idle_minutes: float = DEFAULT_IDLE_MINUTES
) -> ServerStatus:
    """Start a server, or keep the one that is up if it suits. Two at once give one."""
    files = ServerFiles(state_dir.absolute())
    with files.locked():
        state = files.read()
        if state is not None:
            now = look(files, state, wanted)
            if now.standing == "up" and not now.differences:
                return now
            make_way(files, state, now)
        spawn(files, wanted, idle_minutes)
    return status(state_dir, wanted)


def stop(state_dir: Path, *, force: bool = False) -> ServerStatus:
    """Stop the server; one with work only when forced."""
    files = ServerFiles(state_dir.absolute())
    if files.read() is None:
        return ServerStatus(standing="down")
    with files.locked():
        state = files.read()
        if state is None:
            return ServerStatus(standing="down")
        now = look(files, state, None)
        if force and now.standing == "unresponsive":
            os.kill(state.pid, signal.SIGKILL)
            _wait_until_gone(state)
            files.forget(state)
        else:
            make_way(files, state, now, force=force)
    return ServerStatus(standing="down", pid=state.pid, log=str(files.log))


def status(state_dir: Path, wanted: Wanted | None = None) -> ServerStatus:
    """Say how the server stands; *wanted* also says what about it does not suit."""
    files = ServerFiles(state_dir.absolute())
    state = files.read()
    if state is None:
        return ServerStatus(standing="down")
    return look(files, state, wanted)


def make_way(
    files: ServerFiles, state: ServerState, now: ServerStatus, *, force: bool = False
) -> None:
    """Bring down the server of *state*, or raise because it works or does not answer."""
    if now.standing == "unresponsive":
        raise EngineError(
            f"the warm server (pid {state.pid}) is there but does not answer",
            hint="flow engine stop --force",
        )
    if now.standing == "up":
        answer = ask(state.socket, "stop", force=force)
        if not answer.get("ok"):
            raise EngineError(
                f"the warm server (pid {state.pid}) is busy: {answer.get('leases', 0)} run(s), "
                f"{answer.get('active', 0)} active execution(s)",
                hint="wait for them, or: flow engine stop --force",
            )
        _wait_until_gone(state)
    files.forget(state)


def _wait_until_gone(state: ServerState) -> None:
    deadline = time.monotonic() + _STOP_SECONDS
    while alive(state.pid):
        if time.monotonic() > deadline:
            raise EngineError(
                f"the warm server (pid {state.pid}) did not stop within {_STOP_SECONDS:g} s",
                hint="flow engine stop --force",
            )
        time.sleep(_POLL_SECONDS)


def spawn(files: ServerFiles, wanted: Wanted, idle_minutes: float) -> None:
    """Start the supervisor, detached, and wait until it says that it is ready."""
    conf = wanted.conf_for(wanted.connectors)
    files.create()
    files.new_token()
    files.write_launch(
        {
            "master": conf.master,
            "values": dict(conf.values),
            "session": dict(conf.session),
            "java": {
                "home": str(wanted.java.home),
                "version": wanted.java.version,
                "origin": wanted.java.origin,
            },
            "fingerprint": fingerprint_of(conf, wanted.java).to_json(),
            "connectors": list(wanted.connectors),
            "idle_minutes": idle_minutes,
        }
    )
    reading, writing = os.pipe()
    module = "ematix_flow.engine.server_process"
    command = [sys.executable, "-P", "-m", module, str(files.state_dir), str(writing)]
    try:
        with open_log(files.log) as log:
            subprocess.run(  # the supervisor forks itself free; this child ends at once
                command,
                cwd=files.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(writing,),
                start_new_session=True,
                check=False,
            )
    finally:
        os.close(writing)
    try:
        word = _word_from(reading)
    finally:
        os.close(reading)
    if word != "ready":
        raise EngineError(
            f"the warm server did not start: {word or 'it ended without a word'}",
            hint=f"see {files.log}",
        )


def _word_from(reading: int) -> str:
    """Return what the supervisor says; nothing when it dies first or takes too long."""
    deadline = time.monotonic() + _START_SECONDS
    received = b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([reading], [], [], left)[0]:
            break
        part = os.read(reading, 65536)
        if not part:
            break
        received += part
    return received.decode(errors="replace").strip()
