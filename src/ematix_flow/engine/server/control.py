"""How runs talk to the warm server's supervisor: one JSON line each way, over a local socket.

    {"command": "status"}                  who are you, who uses you
    {"command": "use"}                     a lease: it lasts as long as the connection
    {"command": "stop", "force": false}    refused while there is work

The supervisor alone decides, under one lock, so a run can never be given a
server that is about to stop. A run that dies closes its connection and so gives
its lease back.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from ematix_flow._base.clock import Clock

ANSWER_SECONDS = 5.0
_LONGEST_LINE = 1 << 20


class ControlServer:
    """Answers on a UNIX socket; knows leases, idleness and whether to stop."""

    def __init__(
        self,
        listener: socket.socket,
        *,
        facts: dict[str, Any],
        active: Callable[[], int],
        clock: Clock,
    ) -> None:
        """
        :param listener: What `listen` returned.
        :param facts: What `status` and `use` tell besides the counts (pid, port ...).
        :param active: How many executions Spark is working on right now.
        """
        self.stopping = threading.Event()
        self._facts = facts
        self._active = active
        self._clock = clock
        self._lock = threading.Lock()
        self._leases = 0
        self._last_used = clock.monotonic()
        self._socket = listener
        threading.Thread(target=self._accept, name="control", daemon=True).start()

    def close(self) -> None:
        """Stop answering."""
        with suppress(OSError):  # wakes the thread that waits in accept()
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def idle_seconds(self) -> float:
        """Return for how long nobody has used the server; 0 while someone does."""
        active = self._executions()
        with self._lock:
            if self._leases or active:
                self._last_used = self._clock.monotonic()
            return self._clock.monotonic() - self._last_used

    def stop_if_idle_for(self, seconds: float) -> bool:
        """Begin to stop when nobody has used the server for *seconds*."""
        return self.idle_seconds() >= seconds and self.stop_if_unused()

    def stop_if_unused(self) -> bool:
        """Begin to stop unless somebody uses the server right now."""
        return bool(self._stop(force=False).get("ok"))

    def _executions(self) -> int:
        """Ask Spark; never under the lock, for a JVM may hang, and not when it is going."""
        return 0 if self.stopping.is_set() else self._active()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # closed: the supervisor is going down
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with closing(connection), suppress(OSError, ValueError):
            connection.settimeout(ANSWER_SECONDS)
            request = json.loads(_line(connection))
            match request.get("command"):
                case "status":
                    _send(connection, self._status())
                case "use":
                    self._use(connection)
                case "stop":
                    _send(connection, self._stop(force=bool(request.get("force"))))
                case unknown:
                    _send(connection, {"ok": False, "reason": f"unknown command {unknown!r}"})

    def _status(self) -> dict[str, Any]:
        with self._lock:
            leases = self._leases
        return {
            "ok": True,
            **self._facts,
            "stopping": self.stopping.is_set(),
            "leases": leases,
            "active": self._executions(),
            "idle_seconds": round(self.idle_seconds(), 1),
        }

    def _use(self, connection: socket.socket) -> None:
        with self._lock:
            if self.stopping.is_set():
                _send(connection, {"ok": False, "reason": "stopping"})
                return
            self._leases += 1
        try:
            _send(connection, {"ok": True, **self._facts})
            connection.settimeout(None)
            while connection.recv(1024):
                pass  # only the end of the connection matters
        finally:
            with self._lock:
                self._leases -= 1
                self._last_used = self._clock.monotonic()

    def _stop(self, *, force: bool) -> dict[str, Any]:
        active = 0 if force else self._executions()
        with self._lock:
            if (self._leases or active) and not force and not self.stopping.is_set():
                return {"ok": False, "reason": "busy", "leases": self._leases, "active": active}
            self.stopping.set()
        return {"ok": True}


def listen(path: Path) -> socket.socket:
    """Open the socket that a `ControlServer` will answer on."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        listener.listen()
    except BaseException:
        listener.close()
        raise
    return listener


def ask(
    path: Path, command: str, *, seconds: float = ANSWER_SECONDS, **more: Any
) -> dict[str, Any]:
    """Send one command and return the answer. Raises OSError when nobody answers."""
    with closing(_connect(path, seconds)) as connection:
        return _exchange(connection, {"command": command, **more})


def hold(path: Path, *, seconds: float = ANSWER_SECONDS) -> tuple[dict[str, Any], socket.socket]:
    """Ask for a lease. It lasts until the returned connection is closed."""
    connection = _connect(path, seconds)
    try:
        return _exchange(connection, {"command": "use"}), connection
    except BaseException:
        connection.close()
        raise


def _connect(path: Path, seconds: float) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(str(path))
    except BaseException:
        connection.close()
        raise
    return connection


def _exchange(connection: socket.socket, request: dict[str, Any]) -> dict[str, Any]:
    _send(connection, request)
    try:
        answer = json.loads(_line(connection))
    except ValueError as error:
        raise ConnectionError("the supervisor's answer is not JSON") from error
    if not isinstance(answer, dict):
        raise ConnectionError("the supervisor's answer is not an object")
    return answer


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    connection.sendall(json.dumps(message).encode() + b"\n")


def _line(connection: socket.socket) -> bytes:
    received = b""
    while not received.endswith(b"\n") and len(received) < _LONGEST_LINE:
        part = connection.recv(65536)
        if not part:
            break
        received += part
    return received
