"""Start and stop the JVM that a classic Spark session lives in.

pyspark can do this alone; here it is done so that the JVM's noise goes to a
file, the environment it needs is set for the start only, and a JVM that does
not come up is one clear error instead of a screen of log.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from ematix_flow._base.redact import redact
from ematix_flow.engine.host.java import Java
from ematix_flow.engine.spark.archive import discard_archive, is_archive_option
from ematix_flow.engine.spark.sizing import JAVA_OPTIONS
from ematix_flow.errors import EngineError

LOG_LIMIT_BYTES = 10 * 1024 * 1024
_EXIT_SECONDS = 20
_TAIL_LINES = 8
_POLL_SECONDS = 0.02
_LOCAL_SECONDS = 120.0
_CLUSTER_SECONDS = 900.0  # spark-submit may have packages to fetch first
# What spark-submit reads itself. The JVM shows its command line to every user of the machine.
_LAUNCH = re.compile(
    r"spark\.(driver|jars|files|archives|submit|log|kerberos)(\.|$)"
    r"|spark\.(master|app\.name)$"
)


def open_log(path: Path) -> IO[bytes]:
    """Open Spark's log for appending; one that has grown too large starts anew."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LOG_LIMIT_BYTES:
        path.unlink()
    return path.open("ab")


def start_jvm(conf: Mapping[str, str], *, java: Java, log: Path) -> Any:
    """Start a JVM with Spark in it and return pyspark's gateway to it.

    Of *conf* only what the start needs is used, for a command line can be read by everyone
    on the machine; the rest is set later, on the context.
    """
    needed = {key: value for key, value in conf.items() if _LAUNCH.match(key)}
    try:
        return _start(needed, java, log)
    except EngineError:
        options = needed.get(JAVA_OPTIONS, "").split()
        kept = [option for option in options if not is_archive_option(option)]
        if kept == options:
            raise
        # A damaged class archive crashes the JVM; it must not cost the run, nor the next one.
        gateway = _start({**needed, JAVA_OPTIONS: " ".join(kept)}, java, log)
        discard_archive(options)
        return gateway


def _start(conf: Mapping[str, str], java: Java, log: Path) -> Any:
    from pyspark.java_gateway import launch_gateway

    join: Any = launch_gateway
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit started us, and has a JVM
        return join()
    with tempfile.TemporaryDirectory() as directory, open_log(log) as output:
        begin = output.tell()
        file = Path(directory) / "gateway"
        process = subprocess.Popen(
            _command(conf),
            env={
                **os.environ,
                "SPARK_CONNECT_MODE": "0",
                "_PYSPARK_DRIVER_CONN_INFO_PATH": str(file),
            },
            stdin=subprocess.PIPE,  # the JVM ends when this does, so also when we are killed
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C is for us
        )
        try:
            local = conf["spark.master"].startswith("local")
            problem = _wait_for(file, process, _LOCAL_SECONDS if local else _CLUSTER_SECONDS)
            if problem is not None:
                raise EngineError(
                    f"Spark's JVM did not start{problem} ({java})",
                    details=_tail(log, begin),
                    hint=f"the whole log is in {log}",
                )
            with _gateway_environment(file):
                gateway = join()
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            _reap(process)
            raise
    gateway.proc = process
    return gateway


def _command(conf: Mapping[str, str]) -> list[str]:
    from pyspark.find_spark_home import _find_spark_home

    home: Any = _find_spark_home
    settings = [part for item in conf.items() for part in ("--conf", "=".join(item))]
    more = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    return [str(Path(home()) / "bin" / "spark-submit"), *settings, *more]


def _wait_for(file: Path, process: subprocess.Popen[bytes], seconds: float) -> str | None:
    """Return None once the JVM has said, in *file*, where it is; else what went wrong."""
    deadline = time.monotonic() + seconds
    while not file.exists():
        if process.poll() is not None:
            return ""
        if time.monotonic() > deadline:
            return f" within {seconds:g} s"
        time.sleep(_POLL_SECONDS)
    return None


@contextlib.contextmanager
def _gateway_environment(file: Path) -> Iterator[None]:
    """Tell pyspark of a JVM that is up: this is how spark-submit does it, too."""
    content = file.read_bytes()  # two big-endian numbers: port and length; then the secret
    port, length = struct.unpack_from("!ii", content)
    os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
    os.environ["PYSPARK_GATEWAY_SECRET"] = content[8 : 8 + length].decode()
    try:
        yield
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]


def _reap(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    process.wait()


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
    unwanted = ["SPARK_CONNECT_MODE_ENABLED", "SPARK_REMOTE", "SPARK_LOCAL_REMOTE"]
    if local:
        unwanted.append("PYSPARK_SUBMIT_ARGS")  # a shell profile's `--packages` is not ours
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
