"""The warm server, seen from outside: start, stop, look.

It is a Spark Connect server on 127.0.0.1 that stays up between runs, so a run
pays neither for a JVM nor for cold code.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from ematix_flow.engine.server.control import ask
from ematix_flow.engine.server.files import (
    ServerFiles,
    ServerState,
    remove_socket_directory,
    socket_path,
)
from ematix_flow.engine.server.fingerprint import fingerprint_of
from ematix_flow.engine.server.status import ServerStatus, look
from ematix_flow.engine.server.wanted import SparkNeeds
from ematix_flow.engine.spark.launch import open_log
from ematix_flow.errors import EngineError

DEFAULT_IDLE_MINUTES = 30.0
_START_SECONDS = 180.0
_STOP_SECONDS = 60.0
_POLL_SECONDS = 0.05


def start(
    state_dir: Path, wanted: SparkNeeds, *, idle_minutes: float = DEFAULT_IDLE_MINUTES
) -> ServerStatus:
    """Start a server, or keep the one that is up if it suits. Two at once give one."""
    files = ServerFiles(state_dir.absolute())
    with files.locked():
        state = files.read()
        if state is not None:
            now = look(files, state, wanted)
            if now.standing == "up" and not now.stopping and not now.differences:
                return now
            make_way(files, state, now)
        try:
            spawn(files, wanted, idle_minutes)
        except OSError as error:
            raise EngineError(f"the warm server did not start: {error}") from error
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
            with suppress(ProcessLookupError):
                os.kill(state.pid, signal.SIGKILL)
            _wait_until_gone(state)
            files.forget(state)
        else:
            make_way(files, state, now, force=force)
    return ServerStatus(standing="down", pid=state.pid, log=str(files.log))


def status(state_dir: Path, wanted: SparkNeeds | None = None) -> ServerStatus:
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
        raise _mute(state)
    if now.standing == "up":
        try:
            answer = ask(state.socket, "stop", force=force)
        except (FileNotFoundError, ConnectionError):
            answer = {"ok": True}  # it went by itself
        except OSError:
            raise _mute(state) from None
        if not answer.get("ok"):
            raise EngineError(
                f"the warm server (pid {state.pid}) is busy: {answer.get('leases', 0)} run(s), "
                f"{answer.get('active', 0)} active execution(s)",
                hint="wait for them, or: flow engine stop --force",
            )
        _wait_until_gone(state)
    files.forget(state)


def _mute(state: ServerState) -> EngineError:
    return EngineError(
        f"the warm server (pid {state.pid}) is there but does not answer",
        hint="flow engine stop --force",
    )


def _wait_until_gone(state: ServerState) -> None:
    deadline = time.monotonic() + _STOP_SECONDS
    while state.there:
        if time.monotonic() > deadline:
            raise EngineError(
                f"the warm server (pid {state.pid}) did not stop within {_STOP_SECONDS:g} s",
                hint="flow engine stop --force",
            )
        time.sleep(_POLL_SECONDS)


def spawn(files: ServerFiles, wanted: SparkNeeds, idle_minutes: float) -> None:
    """Start the supervisor, detached, and wait until it says that it is ready."""
    conf = wanted.conf_for(wanted.connectors)
    files.create()
    socket = socket_path()
    launch = {
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
        "socket": str(socket),
        "nonce": secrets.token_hex(16),
        "token": secrets.token_hex(32),
    }
    try:
        _bring_up(files, json.dumps(launch).encode())
    except BaseException:
        claim = files.read()
        if claim is not None and claim.nonce == launch["nonce"]:
            files.forget(claim)
        remove_socket_directory(socket)
        raise


def _bring_up(files: ServerFiles, launch: bytes) -> None:
    """Start the supervisor; if it does not come up, or we must go, it goes too."""
    reading, writing = os.pipe()
    module = "ematix_flow.engine.server.process"
    try:
        try:
            with open_log(files.log) as log:
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", module, str(files.state_dir), str(writing)],
                    cwd=files.directory,
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    pass_fds=(writing,),
                    start_new_session=True,
                )
        finally:
            os.close(writing)
        try:
            process.communicate(launch)  # it forks itself free; this child ends at once
            word = _word_from(reading)
            if word != "ready":
                raise EngineError(
                    f"the warm server did not start: {word or 'it ended without a word'}",
                    hint=f"see {files.log}",
                )
        except BaseException:
            with suppress(ProcessLookupError, PermissionError):  # macOS: a group of zombies
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
    finally:
        os.close(reading)


def _word_from(reading: int) -> str:
    """Return what the supervisor says; nothing when it dies first."""
    deadline = time.monotonic() + _START_SECONDS
    received = b""
    while True:
        left = max(0.0, deadline - time.monotonic())
        if not select.select([reading], [], [], left)[0]:
            return f"it took longer than {_START_SECONDS:g} s"
        part = os.read(reading, 65536)
        if not part:
            return received.decode(errors="replace").strip()
        received += part
