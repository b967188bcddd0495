"""Who carries out `.sync()`, `.plan()` and `.ensure()` of declared things.

Declarations know no engine. The package's own `__init__` hands in who does (`api`), when a user
first imports a decorator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from ematix_flow.errors import UsageError

if TYPE_CHECKING:
    from ematix_flow.declare.project import Project
    from ematix_flow.plan.plan import Plan
    from ematix_flow.record.run import RunRecord
    from ematix_flow.spec.modes import OnDrift
    from ematix_flow.spec.table import Table


class Runner(Protocol):
    """What a loaded project can be asked for."""

    def plan(self, name: str) -> Plan:
        """Return what a run would do."""
        ...

    def explain(self, name: str) -> Any:
        """Return the plan together with the engine and its settings."""
        ...

    def run(self, name: str, *, new: bool = False) -> RunRecord:
        """Run one pipeline once."""
        ...

    def ensure(self, table: Table, connection: str, on_drift: OnDrift) -> tuple[str, ...]:
        """Bring a table into being as declared; return the statements that were run."""
        ...


_factory: list[Callable[[Project], Runner]] = []


def use_runner(factory: Callable[[Project], Runner]) -> None:
    """Let *factory* make the runner of a project."""
    _factory[:] = [factory]


def runner_of(project: Project) -> Runner:
    """Return who runs what *project* declares."""
    if not _factory:
        raise UsageError("nobody runs this project", hint="import from ematix_flow itself")
    return _factory[0](project)
