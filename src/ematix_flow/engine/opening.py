"""The engine of one run: opened as it was chosen, and taken away again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from ematix_flow.engine.choice import EngineChoice
from ematix_flow.engine.host.installed import require_classic, require_pyspark
from ematix_flow.engine.host.java import Java
from ematix_flow.engine.jars.store import JarCache
from ematix_flow.engine.server.lease import use
from ematix_flow.engine.server.wanted import SparkNeeds, wanted_for
from ematix_flow.engine.spark import embedded
from ematix_flow.engine.spark.classic_conf import ClassicConf
from ematix_flow.engine.spark.connect import check_version, preflight
from ematix_flow.engine.spark.connect_mode import connect_mode, connected
from ematix_flow.engine.spark.errors import translating
from ematix_flow.engine.spark.opened import EngineMode, EngineReport, OpenEngine
from ematix_flow.engine.spark.sail import sail_server
from ematix_flow.engine.spark.session import classic_session, configured, connect_session, stop
from ematix_flow.engine.spark.sizing import Sizing
from ematix_flow.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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


def _local(
    stack: ExitStack, choice: EngineChoice, wanted: SparkNeeds, state_dir: Path, *, batch: bool
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
        return configured(base.newSession(), conf.session)

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
    mode: EngineMode = "remote",
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
        stack.callback(stop, session)
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
