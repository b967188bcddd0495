"""The supervisor of the warm server: `python -m ematix_flow.engine.server_process`.

It builds the Spark Connect server in its own JVM, warms it, publishes where it
is, and then waits: for a stop command, for idleness, for the end of its JVM or
of the state that makes it findable. When it goes, everything it made goes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ematix_flow._base.clock import SystemClock, iso
from ematix_flow.engine.classic_conf import ClassicConf
from ematix_flow.engine.control import ControlServer
from ematix_flow.engine.fingerprint import Fingerprint
from ematix_flow.engine.java import Java
from ematix_flow.engine.launch import stop_jvm
from ematix_flow.engine.server_files import ServerFiles, ServerState, socket_path
from ematix_flow.engine.session import classic_session, connect_session
from ematix_flow.engine.warmup import exercise
from ematix_flow.errors import FlowError

_TICK_SECONDS = 1.0
# The first pass loads the code, the second lets the JVM compile what every run uses.
_WARMUP_PASSES = 2
_TOKEN = "spark.connect.authenticate.token"  # noqa: S105  # the name of the setting
_CONNECT = {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    # A killed run is noticed when its stream is due to be renewed; what it left working is
    # then ended. Spark's own values (2 and 5 minutes) would keep the server busy that long.
    "spark.connect.execute.reattachable.senderMaxStreamDuration": "5s",
    "spark.connect.execute.manager.detachedTimeout": "10s",
    "spark.connect.execute.manager.maintenanceInterval": "2s",
}


def main(state_dir: Path, writing: int) -> None:
    """Run the server until it should end.

    :param writing: A pipe to whoever started us: one word, then it is closed.
    """
    if os.fork():
        os._exit(0)  # nobody's child: it outlives the command that started it
    files = ServerFiles(state_dir)
    said = _Word(writing)
    try:
        with ExitStack() as stack:
            supervise(files, stack, said)
    except FlowError as error:
        said(str(error))
        raise SystemExit(1) from None
    except BaseException as error:
        said(f"{type(error).__name__}: {error}")
        raise


def supervise(files: ServerFiles, stack: ExitStack, ready: Callable[[str], None]) -> None:
    """Bring the server up, say so, and keep watch."""
    launch = json.loads(files.launch.read_text("utf-8"))
    token = files.token() or files.new_token()
    session = _spark(launch, files, token, stack)
    service = _connect_service(session)
    port = int(service.localPort())
    _warm(f"sc://localhost:{port}/;token={token}")

    clock = SystemClock()
    state = ServerState(
        pid=os.getpid(),
        port=port,
        socket=socket_path(),
        fingerprint=Fingerprint.from_json(launch["fingerprint"]),
        connectors=tuple(launch["connectors"]),
        started_at=iso(clock.now()),
        idle_minutes=float(launch["idle_minutes"]),
    )
    stack.callback(files.forget, state)
    control = ControlServer(
        state.socket,
        facts={"pid": state.pid, "port": port},
        active=lambda: _active(service),
        clock=clock,
    )
    stack.callback(control.close)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: control.stopping.set())
    files.write(state)
    ready("ready")
    _watch(files, state, control, session)


def _spark(launch: dict[str, Any], files: ServerFiles, token: str, stack: ExitStack) -> Any:
    java = launch["java"]
    session = classic_session(
        ClassicConf(
            master=launch["master"],
            values={**launch["values"], **_CONNECT},
            session=launch["session"],
        ),
        java=Java(home=Path(java["home"]), version=java["version"], origin=java["origin"]),
        log=files.log,
        secrets={_TOKEN: token},
    )
    stack.callback(stop_jvm, session.sparkContext._gateway)
    stack.callback(_stop_quietly, session)
    return session


def _warm(url: str) -> None:
    session: Any = connect_session(url, {})
    try:
        with tempfile.TemporaryDirectory() as directory:
            for number in range(_WARMUP_PASSES):
                exercise(session, Path(directory) / str(number))
    finally:
        session.stop()


def _watch(files: ServerFiles, state: ServerState, control: ControlServer, session: Any) -> None:
    jvm = session.sparkContext._gateway.proc
    while not control.stopping.wait(_TICK_SECONDS):
        claim = files.read()
        if claim is None or claim.pid != state.pid:
            break  # the project is gone or another server took over: nobody can find us
        if jvm is not None and jvm.poll() is not None:
            break
        if control.stop_if_idle_for(state.idle_minutes * 60):
            break


def _connect_service(session: Any) -> Any:
    package = session._jvm.org.apache.spark.sql.connect.service
    return getattr(getattr(package, "SparkConnectService$"), "MODULE$")


def _active(service: Any) -> int:
    """Return how many executions are under way (Spark answers with a Scala Either)."""
    executions = service.listActiveExecutions()
    return 0 if executions.isLeft() else int(executions.toOption().get().size())


def _stop_quietly(session: Any) -> None:
    try:
        session.stop()
    except Exception as error:  # noqa: BLE001  # going down anyway; the log keeps the reason
        sys.stderr.write(f"{time.ctime()} while stopping Spark: {error}\n")


class _Word:
    """One message to the starter, then silence."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def __call__(self, text: str) -> None:
        if self._descriptor is not None:
            os.write(self._descriptor, text.encode())
            os.close(self._descriptor)
            self._descriptor = None


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
