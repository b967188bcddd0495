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

    :param token: The fence's token of a connection, which its commit has to show.
    :param commits_to: What is committed to, where it is not the target itself.
    :param require_lease: Raises when somebody else has taken the pipeline over.
    """

    reader: Callable[[str], Reader]
    target: Callable[[str], Target]
    open_engine: OpenEngineLate
    observer: Observer
    clock: Clock
    on_step: Callable[[StepRecord], None]
    on_engine: Callable[[EngineReport], None]
    token: Callable[[str], int]
    require_lease: Callable[[], None]
    commits_to: Callable[[str], Target] | None = None
    allow_destructive: bool = False
