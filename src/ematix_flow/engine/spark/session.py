"""The only builder of a SparkSession: in a JVM of its own, or on a Connect server."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ematix_flow.engine.host.java import Java
from ematix_flow.engine.spark.classic_conf import ClassicConf
from ematix_flow.engine.spark.connect import patience, quiet_exit, retire
from ematix_flow.engine.spark.errors import translating
from ematix_flow.engine.spark.launch import jvm_environment, quiet_pyspark, start_jvm, stop_jvm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def classic_session(
    conf: ClassicConf,
    *,
    java: Java,
    log: Path,
    secrets: Mapping[str, str] | None = None,
) -> SparkSession:
    """Start a JVM and build the classic session in it.

    :param secrets: Conf that is not the user's, and must not be seen either.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    quiet_pyspark()
    values = {**conf.values, **conf.session, **(secrets or {})}
    local = conf.master.startswith("local")
    with jvm_environment(java, local=local):
        gateway = start_jvm({**values, "spark.master": conf.master}, java=java, log=log)
        try:
            spark_conf = SparkConf(loadDefaults=False, _jvm=gateway.jvm)
            spark_conf.setAll(list(values.items()))
            with translating(), _own_interrupt():
                return SparkSession(SparkContext(conf=spark_conf, gateway=gateway))
        except BaseException:
            stop_jvm(gateway)
            raise


def connect_session(url: str, settings: Mapping[str, str]) -> Any:
    """Build a session on a Connect server, with *settings* of its own."""
    from pyspark.sql.connect.session import SparkSession

    quiet_pyspark()
    # Its class is not pyspark.sql.SparkSession, but a program may treat it as one.
    with translating():
        session: Any = SparkSession.builder.remote(url).create()
    try:
        quiet_exit(session.client)
        patience(session)
        with translating():
            session.conf._set_all(configs=dict(settings), silent=True)
    except BaseException:
        stop(session)
        raise
    return session


def configured(session: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """Return the session with those of the settings that a session can have."""
    for key, value in settings.items():
        if session.conf.isModifiable(key):
            session.conf.set(key, value)
    return session


def stop(session: Any) -> None:
    """End a session of a Connect server, and what its client keeps open."""
    with suppress(Exception):  # the server may be gone; the run's own outcome stands
        session.stop()
        retire(session.client)


@contextmanager
def _own_interrupt() -> Iterator[None]:
    """Keep Ctrl-C as it is: pyspark's handler outlives its context, and then fails."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None:  # None: it was not set from Python
            signal.signal(signal.SIGINT, before)
