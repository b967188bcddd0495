"""The one classic Spark of this process.

A process can hold a single Spark context, so its keeper is process-wide state:
runs one after another share it (each in its own session), and it is stopped when
the process ends, or when a run needs another start-up conf and nobody uses it.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from ematix_flow.engine.spark.classic_conf import ClassicConf
from ematix_flow.engine.spark.launch import stop_jvm
from ematix_flow.errors import EngineError


@dataclass(slots=True)
class _Embedded:
    session: Any
    conf: ClassicConf
    users: int = 0


_lock = threading.RLock()
_current: _Embedded | None = None


def in_use() -> bool:
    """Tell whether a run of this process is on the embedded Spark right now."""
    with _lock:
        return _current is not None and _current.users > 0


@contextmanager
def embedded_session(conf: ClassicConf, build: Callable[[ClassicConf], Any]) -> Iterator[Any]:
    """Hand out the process's session, built with *build* if there is none that serves *conf*."""
    with _lock:
        embedded = _serving(conf, build)
        embedded.users += 1
    try:
        yield embedded.session
    finally:
        with _lock:
            embedded.users -= 1


def close_embedded() -> None:
    """Stop the embedded Spark, if this process has one. Safe to call twice."""
    global _current  # one context per process is Spark's rule
    with _lock:
        embedded, _current = _current, None
    if embedded is None:
        return
    gateway = embedded.session.sparkContext._gateway
    with suppress(Exception):  # a JVM that was killed cannot be stopped twice
        embedded.session.stop()
    stop_jvm(gateway)


def _leave() -> None:
    """Let the JVM end by itself when the process does; its own shutdown hook stops Spark.

    Waiting for it would keep the user's prompt for another half second.
    """
    if _current is None:
        return
    process = _current.session.sparkContext._gateway.proc
    if process is not None and process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()


def _serving(conf: ClassicConf, build: Callable[[ClassicConf], Any]) -> _Embedded:
    global _current  # noqa: PLW0603  # one context per process is Spark's rule
    if _current is not None and not _alive(_current.session):
        close_embedded()
    if _current is not None and not _current.conf.serves(conf):
        if _current.users:
            raise EngineError(
                "this process is running Spark with other start-up settings or jars",
                hint="run the two pipelines one after the other, or in two processes",
            )
        close_embedded()
    if _current is None:
        _refuse_foreign_context()
        _current = _Embedded(build(conf), conf)
        atexit.register(_leave)
    return _current


def _alive(session: Any) -> bool:
    try:
        return not session.sparkContext._jsc.sc().isStopped()
    except Exception:  # noqa: BLE001  # whatever a dead JVM raises, it is dead
        return False


def _refuse_foreign_context() -> None:
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        raise EngineError(
            "this process already has a Spark session that ematix-flow did not start",
            hint="hand it in with `session=` (it is then borrowed, never changed or stopped)",
        )
