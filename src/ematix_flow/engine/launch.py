"""Start and stop the JVM that a classic Spark session lives in.

pyspark can do this alone; here it is done so that the JVM's noise goes to a
file, the environment it needs is set for the start only, and a JVM that does
not come up is one clear error instead of a screen of log.
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from ematix_flow._base.redact import redact
from ematix_flow.engine.archive import discard_archive, is_archive_option
from ematix_flow.engine.java import Java
from ematix_flow.engine.sizing import JAVA_OPTIONS
from ematix_flow.errors import EngineError

LOG_LIMIT_BYTES = 10 * 1024 * 1024
_EXIT_SECONDS = 20
_TAIL_LINES = 8


def open_log(path: Path) -> IO[bytes]:
    """Open Spark's log for appending; one that has grown too large starts anew."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LOG_LIMIT_BYTES:
        path.unlink()
    return path.open("ab")


def start_jvm(conf: Mapping[str, str], *, java: Java, log: Path) -> Any:
    """Start a JVM with Spark in it and return pyspark's gateway to it.

    Everything in *conf* is visible on the JVM's command line; secrets are set
    later, on the context.
    """
    try:
        return _start(conf, java, log)
    except EngineError:
        options = conf.get(JAVA_OPTIONS, "").split()
        kept = [option for option in options if not is_archive_option(option)]
        if kept == options:
            raise
        # A damaged class archive crashes the JVM; it must not cost the run, nor the next one.
        gateway = _start({**conf, JAVA_OPTIONS: " ".join(kept)}, java, log)
        discard_archive(options)
        return gateway


def _start(conf: Mapping[str, str], java: Java, log: Path) -> Any:
    from pyspark import SparkConf
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    spark_conf = SparkConf(loadDefaults=False)
    spark_conf.setAll(list(conf.items()))
    with open_log(log) as output, warnings.catch_warnings():
        begin = output.tell()
        # Python 3.12 warns about pyspark's way of starting a process beside threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            start: Any = launch_gateway
            return start(spark_conf, popen_kwargs={"stdout": output, "stderr": output})
        except PySparkRuntimeError:
            raise EngineError(
                f"Spark's JVM did not start ({java})",
                details=_tail(log, begin),
                hint=f"the whole log is in {log}",
            ) from None


def quiet_pyspark() -> None:
    """Keep pyspark from printing every query error, with its JVM stack, to the terminal.

    The error itself is raised as always; ours says it in one line.
    """
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)


def stop_jvm(gateway: Any, *, seconds: float = _EXIT_SECONDS) -> None:
    """End the JVM behind *gateway* and wait until it is gone."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with contextlib.suppress(Exception):  # a JVM that died already answers nothing
        gateway.shutdown()
    # pyspark forgets these only when a living JVM confirms the stop.
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None
    process: subprocess.Popen[bytes] | None = gateway.proc
    if process is None:
        return
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()  # the JVM ends when its standard input does
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextlib.contextmanager
def jvm_environment(java: Java, *, local: bool) -> Iterator[None]:
    """Set what Spark reads from the environment, and put it back afterwards.

    :param local: Spark runs here: its workers must be this interpreter (another may
        lack pyarrow) and its jars those of the installed pyspark. On a cluster the
        user's own PYSPARK_PYTHON and SPARK_HOME stand.
    """
    wanted = {"JAVA_HOME": str(java.home)}
    if local:
        import pyspark

        home = Path(pyspark.__file__).parent
        if (home / "jars").is_dir():
            wanted["SPARK_HOME"] = str(home)
        wanted["PYSPARK_PYTHON"] = wanted["PYSPARK_DRIVER_PYTHON"] = sys.executable
        wanted["SPARK_LOCAL_IP"] = "127.0.0.1"  # else Spark looks for an outward address
    else:
        wanted["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON", sys.executable)
    # Left over from a Connect session, these would turn the new session into a remote one.
    unwanted = ("SPARK_CONNECT_MODE_ENABLED", "SPARK_REMOTE", "SPARK_LOCAL_REMOTE")
    before = {name: os.environ.get(name) for name in (*wanted, *unwanted)}
    os.environ.update(wanted)
    for name in unwanted:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _tail(log: Path, begin: int) -> str:
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(begin)
        lines = file.read().decode(errors="replace").strip().splitlines()
        return redact("\n".join(lines[-_TAIL_LINES:]))
    return ""
