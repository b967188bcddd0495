"""The only builder of a SparkSession.

`open_engine` gives a run its own session on the chosen engine and takes it away
again; `borrow` wraps a session that belongs to the caller, which is never
reconfigured and never stopped.
"""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, assert_never, cast

from ematix_flow.engine import embedded
from ematix_flow.engine.choice import EngineChoice
from ematix_flow.engine.classic_conf import ClassicConf
from ematix_flow.engine.connect import check_version, patience, preflight, quiet_exit, retire
from ematix_flow.engine.connect_mode import connect_mode, connected
from ematix_flow.engine.embedded import close_embedded
from ematix_flow.engine.installed import require_classic, require_pyspark
from ematix_flow.engine.jars import JarCache
from ematix_flow.engine.java import Java
from ematix_flow.engine.launch import jvm_environment, quiet_pyspark, start_jvm, stop_jvm
from ematix_flow.engine.opened import EngineReport, Mode, OpenEngine
from ematix_flow.engine.sail import sail_server
from ematix_flow.engine.server_lease import use
from ematix_flow.engine.sizing import Sizing
from ematix_flow.engine.spark_errors import translating
from ematix_flow.engine.wanted import Wanted, wanted_for
from ematix_flow.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "EngineReport",
    "Mode",
    "OpenEngine",
    "borrow",
    "classic_session",
    "close_embedded",
    "connect_session",
    "open_engine",
]


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
    require_pyspark()
    state_dir = state_dir.absolute()
    with ExitStack() as stack:
        match choice.kind:
            case "local" | "master":
                require_classic()
                wanted = wanted_for(
                    choice.target,
                    sizing=sizing,
                    connectors=connectors,
                    state_dir=state_dir,
                    jars=jars,
                )
                engine = _local(stack, choice, wanted, state_dir, batch=batch)
            case "connect":
                engine = _remote(stack, choice, choice.target, sizing.session_conf())
            case "sail":
                url = stack.enter_context(sail_server())
                engine = _remote(stack, choice, url, sizing.session_conf())
            case _:
                assert_never(choice.kind)
        yield engine


@dataclass(frozen=True, kw_only=True)
class Borrowed(OpenEngine):
    """Sessions beside the caller's; as a context manager it gives them back."""

    _sessions: ExitStack = field(default_factory=ExitStack, repr=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._sessions.close()


def borrow(session: SparkSession, settings: Mapping[str, str] | None = None) -> Borrowed:
    """Run beside a session that the caller owns: same Spark, own views, own conf.

    :param settings: Conf of the run's own session; the caller's is left as it is.
    """
    classic = hasattr(session, "_jsparkSession")
    sessions = ExitStack()
    report = EngineReport(
        engine="borrowed",
        mode="borrowed",
        address=str(session.sparkContext.master) if classic else "sc://",
        spark_version=session.version,
        java=None,
        why="the caller handed in a session",
    )

    def another() -> SparkSession:
        if classic:
            return _configured(session.newSession(), settings or {})
        beside = _clone(session)
        quiet_exit(beside.client)
        sessions.callback(_release, beside.client)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # for each one that is fixed there
            beside.conf._set_all(configs=dict(settings or {}), silent=True)
        return cast("SparkSession", beside)

    try:
        return Borrowed(session=another(), report=report, _another=another, _sessions=sessions)
    except BaseException:
        sessions.close()
        raise


def _configured(session: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    for key, value in settings.items():
        if session.conf.isModifiable(key):
            session.conf.set(key, value)
    return session


def _release(client: Any) -> None:
    """End a clone's session alone: its `stop()` might end the caller's server with it."""
    with suppress(Exception):  # the server may be gone; the run's own outcome stands
        client.release_session()
    with suppress(Exception):
        retire(client)


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


def _clone(session: Any) -> Any:
    try:
        return session.cloneSession()
    except Exception as error:
        raise EngineError(
            "the server of the session that was handed in cannot open a second session beside it",
            hint='run by its address instead: engine="sc://host:port"',
        ) from error


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
        _stop(session)
        raise
    return session


def _local(
    stack: ExitStack, choice: EngineChoice, wanted: Wanted, state_dir: Path, *, batch: bool
) -> OpenEngine:
    """Use the warm server where that is possible, else Spark in this process."""
    conf = wanted.conf_for(wanted.connectors)
    notes: tuple[str, ...] = ()
    if choice.kind == "local" and batch and not embedded.in_use():
        lease, notes = use(state_dir, wanted)
        if lease is not None:
            warm = stack.enter_context(ExitStack())
            warm.callback(lease.close)
            try:
                return _remote(
                    warm,
                    replace(choice, address=lease.address),
                    lease.url,
                    conf.session,
                    mode="warm",
                    java=str(wanted.java),
                    notes=notes,
                )
            except EngineError as error:
                warm.close()
                trouble = f"the warm server did not answer ({error.what})"
                notes = (*notes, f"{trouble}; this run started its own Spark")
    return _embed(stack, choice, conf, wanted.java, state_dir=state_dir, notes=notes)


def _embed(
    stack: ExitStack,
    choice: EngineChoice,
    conf: ClassicConf,
    java: Java,
    *,
    state_dir: Path,
    notes: tuple[str, ...],
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
        return _configured(base.newSession(), conf.session)

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
    if choice.kind != "sail":  # which is in this process
        preflight(url)
    stack.enter_context(connect_mode())

    def another() -> SparkSession:
        session: SparkSession = connect_session(url, settings)
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


def _stop(session: Any) -> None:
    with suppress(Exception):  # the server may be gone; the run's own outcome stands
        session.stop()
        retire(session.client)
