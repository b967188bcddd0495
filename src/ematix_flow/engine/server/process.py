"""The supervisor of the warm server: `python -m ematix_flow.engine.server.process`.

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
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from ematix_flow._base.clock import SystemClock, iso
from ematix_flow._base.redact import register_secret
from ematix_flow.engine.host.java import Java
from ematix_flow.engine.server.control import ControlServer, listen
from ematix_flow.engine.server.files import ServerFiles, ServerState, born, remove_socket_directory
from ematix_flow.engine.server.fingerprint import Fingerprint
from ematix_flow.engine.spark.classic_conf import ClassicConf
from ematix_flow.engine.spark.launch import stop_jvm
from ematix_flow.engine.spark.session import classic_session, connect_session
from ematix_flow.engine.spark.warmup import exercise
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
    """Run the server until it should end. What to start is read from standard input.

    :param writing: A pipe to whoever started us: one word, then it is closed.
    """
    launch = json.load(sys.stdin)
    if os.fork():
        os._exit(0)  # nobody's child: it outlives the command that started it
    said = _Word(writing)
    try:
        with ExitStack() as stack:
            supervise(ServerFiles(state_dir), launch, stack, said)
    except FlowError as error:
        said(str(error))
        raise SystemExit(1) from None
    except BaseException as error:
        said(f"{type(error).__name__}: {error}")
        raise


def supervise(files: ServerFiles, launch: dict[str, Any], stack: ExitStack, said: _Word) -> None:
    """Bring the server up, say so, and keep watch."""
    socket = Path(launch["socket"])
    stack.callback(remove_socket_directory, socket)
    listener = stack.enter_context(closing(listen(socket)))
    register_secret(launch["token"])
    # Registered before Spark is, so that the claim goes after it: until then we can be asked.
    goodbye = stack.enter_context(ExitStack())
    session = _spark(launch, files, stack)
    service = _connect_service(session)
    port = int(service.localPort())
    _warm(f"sc://localhost:{port}/;token={launch['token']}")

    clock = SystemClock()
    state = ServerState(
        pid=os.getpid(),
        born=born(os.getpid()),
        nonce=launch["nonce"],
        port=port,
        socket=socket,
        fingerprint=Fingerprint.from_json(launch["fingerprint"]),
        connectors=tuple(launch["connectors"]),
        started_at=iso(clock.now()),
        idle_minutes=float(launch["idle_minutes"]),
        token=launch["token"],
    )
    control = ControlServer(
        listener,
        facts={"pid": state.pid, "port": port},
        active=lambda: _active(service),
        clock=clock,
    )
    goodbye.callback(control.close)
    stack.callback(control.stopping.set)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: control.stopping.set())
    if not said.heard():
        return  # whoever started us is gone: nobody asked for this server any more
    goodbye.callback(files.forget, state)
    files.write(state)
    said("ready")
    _watch(files, state, control, session)


def _spark(launch: dict[str, Any], files: ServerFiles, stack: ExitStack) -> Any:
    java = launch["java"]
    session = classic_session(
        ClassicConf(
            master=launch["master"],
            values={**launch["values"], **_CONNECT},
            session=launch["session"],
        ),
        java=Java(home=Path(java["home"]), version=java["version"], origin=java["origin"]),
        log=files.log,
        secrets={_TOKEN: launch["token"]},
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
        if files.lost(state) and control.stop_if_unused():
            break  # the project is gone or another server took over
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
    """One message to the starter, then silence; a starter that is gone is no error."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def heard(self) -> bool:
        """Tell whether the starter still listens."""
        return self._write("\n")

    def __call__(self, text: str) -> None:
        self._write(text)
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write(self, text: str) -> bool:
        if self._descriptor is None:
            return False
        try:
            os.write(self._descriptor, text.encode())
        except OSError:
            return False
        return True


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
