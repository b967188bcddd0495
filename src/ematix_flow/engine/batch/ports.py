"""Who does the work that a batch run only orders."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from ematix_flow._base.clock import Clock
from ematix_flow.engine.spark.opened import EngineReport, OpenEngine
from ematix_flow.observe.events import Observer
from ematix_flow.ports import Reader, Target
from ematix_flow.record.run import StepRecord

OpenEngineLate = Callable[[], AbstractContextManager[OpenEngine]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPorts:
    """Who does the work that a walk only orders.

    What has a default is left out by a walk that leaves no trace.

    :param on_step: Told of each step that has ended.
    :param on_engine: Told of the engine that was opened.
    :param token: The fence's token of a connection, which its commit has to show.
    :param require_lease: Raises when somebody else has taken the pipeline over.
    """

    reader: Callable[[str], Reader]
    target: Callable[[str], Target]
    open_engine: OpenEngineLate
    observer: Observer
    clock: Clock
    on_step: Callable[[StepRecord], None] = lambda _: None
    on_engine: Callable[[EngineReport], None] = lambda _: None
    token: Callable[[str], int] = lambda _: 0
    require_lease: Callable[[], None] = lambda: None
    allow_destructive: bool = False
