"""A session that belongs to the caller: never reconfigured, never stopped."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from ematix_flow.engine.spark.connect import quiet_exit, retire
from ematix_flow.engine.spark.opened import EngineReport, OpenEngine
from ematix_flow.engine.spark.session import configured
from ematix_flow.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
            return configured(session.newSession(), settings or {})
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


def _clone(session: Any) -> Any:
    try:
        return session.cloneSession()
    except Exception as error:
        raise EngineError(
            "the server of the session that was handed in cannot open a second session beside it",
            hint='run by its address instead: engine="sc://host:port"',
        ) from error


def _release(client: Any) -> None:
    """End a clone's session alone: its `stop()` might end the caller's server with it."""
    with suppress(Exception):  # the server may be gone; the run's own outcome stands
        client.release_session()
    with suppress(Exception):
        retire(client)
