"""The only builder of a SparkSession.

`open_engine` gives a run its own session on the chosen engine and takes it away
again; `borrow` wraps a session that belongs to the caller, which is never
reconfigured and never stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, assert_never

from ematix_flow.engine import embedded
from ematix_flow.engine.archive import OPTION as ARCHIVE_OPTION
from ematix_flow.engine.choice import EngineChoice
from ematix_flow.engine.classic_conf import ClassicConf, classic_conf
from ematix_flow.engine.connect import check_version, patience, preflight
from ematix_flow.engine.connect_mode import connect_mode, connected
from ematix_flow.engine.jars import JarCache
from ematix_flow.engine.java import Java, find_java
from ematix_flow.engine.launch import jvm_environment, quiet_pyspark, start_jvm, stop_jvm
from ematix_flow.engine.sail import sail_server
from ematix_flow.engine.sizing import JAVA_OPTIONS, Sizing
from ematix_flow.engine.spark_errors import translating
from ematix_flow.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Mode = Literal["embedded", "warm", "remote", "borrowed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineReport:
    """Which engine a run was on, for its record and for `flow doctor`."""

    engine: str
    mode: Mode
    address: str
    spark_version: str
    java: str | None
    why: str
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the report as records store it."""
        return {
            "engine": self.engine,
            "mode": self.mode,
            "address": self.address,
            "spark_version": self.spark_version,
            "java": self.java,
            "why": self.why,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEngine:
    """An engine that is up. `session` belongs to one run alone."""

    session: SparkSession
    report: EngineReport
    _another: Callable[[], SparkSession]

    def new_session(self) -> SparkSession:
        """Return one more isolated session: own temp views, own conf."""
        return self._another()


@contextmanager
def open_engine(
    choice: EngineChoice,
    *,
    sizing: Sizing,
    connectors: Sequence[str] = (),
    state_dir: Path,
    jars: JarCache | None = None,
    batch: bool = True,
) -> Iterator[OpenEngine]:
    """Open the engine for one run.

    :param connectors: Names from the jar lock that the run needs; the rest is not fetched.
    :param state_dir: The project's `.ematix-flow`, for logs and the warm server.
    :param batch: Batch runs may use the warm server; streams need a driver of their own.
    """
    _require_pyspark()
    state_dir = state_dir.absolute()
    with ExitStack() as stack:
        match choice.kind:
            case "local" | "master":
                _require_classic()
                java = find_java()
                conf = classic_conf(
                    master=choice.target,
                    sizing=sizing,
                    connectors=connectors,
                    jars=jars or JarCache(),
                    java=java,
                    state_dir=state_dir,
                )
                engine = _embed(stack, choice, conf, java, state_dir)
            case "connect":
                engine = _remote(stack, choice, choice.target, sizing.session_conf())
            case "sail":
                url = stack.enter_context(sail_server())
                engine = _remote(stack, choice, url, sizing.session_conf())
            case _:
                assert_never(choice.kind)
        yield engine


def borrow(session: SparkSession) -> OpenEngine:
    """Wrap a session that the caller owns."""
    classic = hasattr(session, "_jsparkSession")
    address = session.sparkContext.master if classic else "sc://"
    report = EngineReport(
        engine="borrowed",
        mode="borrowed",
        address=address,
        spark_version=session.version,
        java=None,
        why="the caller handed in a session",
    )
    another: Any = session.newSession if classic else getattr(session, "cloneSession", None)
    return OpenEngine(session=session, report=report, _another=another)


def classic_session(
    conf: ClassicConf,
    *,
    java: Java,
    log: Path,
    secrets: Mapping[str, str] | None = None,
) -> SparkSession:
    """Start a JVM and build the classic session in it.

    :param secrets: Conf that must not be seen on the JVM's command line.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    quiet_pyspark()
    values = {**conf.values, **conf.session}
    local = conf.master.startswith("local")
    with jvm_environment(java, local=local):
        gateway = _start(values, java, log)
        try:
            spark_conf = SparkConf(loadDefaults=False, _jvm=gateway.jvm)
            spark_conf.setAll([*values.items(), *(secrets or {}).items()])
            with translating():
                return SparkSession(SparkContext(conf=spark_conf, gateway=gateway))
        except BaseException:
            stop_jvm(gateway)
            raise


def _start(values: dict[str, str], java: Java, log: Path) -> Any:
    try:
        return start_jvm(values, java=java, log=log)
    except EngineError:
        options = values.get(JAVA_OPTIONS, "").split()
        kept = [option for option in options if not option.startswith(ARCHIVE_OPTION)]
        if kept == options:
            raise
        # A damaged class archive must not cost the run: start once more without it.
        values[JAVA_OPTIONS] = " ".join(kept)
        return start_jvm(values, java=java, log=log)


def connect_session(url: str, settings: Mapping[str, str]) -> SparkSession:
    """Build a session on a Connect server, with *settings* of its own."""
    from pyspark.sql.connect.session import SparkSession

    quiet_pyspark()
    session = SparkSession.builder.remote(url).create()
    try:
        patience(session)
        with translating():
            session.conf._set_all(configs=dict(settings), silent=True)
    except BaseException:
        _stop(session)
        raise
    return session


def _embed(
    stack: ExitStack,
    choice: EngineChoice,
    conf: ClassicConf,
    java: Java,
    state_dir: Path,
    notes: tuple[str, ...] = (),
) -> OpenEngine:
    if connected():
        raise EngineError(
            "this process is using a remote Spark and cannot embed a second one",
            hint="wait for that run, or run this one in another process",
        )
    log = state_dir / "logs" / "spark.log"
    base = stack.enter_context(
        embedded.embedded_session(conf, lambda conf: classic_session(conf, java=java, log=log))
    )

    def another() -> SparkSession:
        session = base.newSession()
        for key, value in conf.session.items():
            if session.conf.isModifiable(key):
                session.conf.set(key, value)
        return session

    report = EngineReport(
        engine=choice.kind,
        mode="embedded",
        address=choice.address,
        spark_version=base.version,
        java=str(java),
        why=choice.why,
        notes=notes,
    )
    return OpenEngine(session=another(), report=report, _another=another)


def _remote(
    stack: ExitStack,
    choice: EngineChoice,
    url: str,
    settings: Mapping[str, str],
    *,
    mode: Mode = "remote",
    java: str | None = None,
    notes: tuple[str, ...] = (),
) -> OpenEngine:
    if embedded.in_use():
        raise EngineError(
            "this process is using an embedded Spark and cannot open a remote one beside it",
            hint="wait for that run, or run this one in another process",
        )
    preflight(url)
    stack.enter_context(connect_mode())

    def another() -> SparkSession:
        session = connect_session(url, settings)
        stack.callback(_stop, session)
        return session

    session = another()
    with translating():
        version = session.version
    report = EngineReport(
        engine=choice.kind,
        mode=mode,
        address=choice.address,
        spark_version=version,
        java=java,
        why=choice.why,
        notes=(*notes, *check_version(version, choice.address)),
    )
    return OpenEngine(session=session, report=report, _another=another)


def _stop(session: SparkSession) -> None:
    with suppress(Exception):  # the server may be gone; the run's own outcome stands
        session.stop()


def _require_pyspark() -> None:
    from importlib.util import find_spec

    if find_spec("pyspark") is None:
        raise EngineError(
            "running pipelines needs pyspark, which is not installed",
            hint="pip install 'ematix-flow[spark]' (or 'ematix-flow[sail]' to run without Java)",
        )


def _require_classic() -> None:
    from pyspark.util import is_remote_only

    if is_remote_only():
        raise EngineError(
            "the installed pyspark-client can only connect to a server; it holds no Spark to run",
            hint="use the engine 'sail' or 'sc://...', or: pip install 'ematix-flow[spark]'",
        )
