"""Who carries out `.sync()`, `.plan()` and `.ensure()` of declared things.

Declarations know no engine. The package's own `__init__` hands in who does (`api`), when a user
first imports a decorator.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ematix_flow.declare.loading import refuse_while_loading
from ematix_flow.errors import UsageError

if TYPE_CHECKING:
    from ematix_flow.api.explanation import Explanation
    from ematix_flow.declare.project import Project
    from ematix_flow.engine.runs.backfill import BackfillResult
    from ematix_flow.engine.runs.preview import Preview
    from ematix_flow.plan.plan import Plan
    from ematix_flow.ports import ActualColumn
    from ematix_flow.record.run import RunResult
    from ematix_flow.spec.modes import OnDrift
    from ematix_flow.spec.table import Table, TableName


class Runner(Protocol):
    """What a loaded project can be asked for."""

    def plan(self, name: str) -> Plan:
        """Return what a run would do."""
        ...

    def explain(self, name: str) -> Explanation:
        """Return the plan together with the engine and its settings."""
        ...

    def run(self, name: str, *, new: bool = False) -> RunResult:
        """Run one pipeline once."""
        ...

    def preview(self, name: str, rows: int = 20) -> Preview:
        """Return the first rows as they would reach the target."""
        ...

    def dry_run(self, name: str) -> RunResult:
        """Return what a run would change."""
        ...

    def backfill(
        self,
        name: str,
        start: object,
        end: object,
        *,
        chunk: object = None,
        keep_going: bool = False,
        new: bool = False,
    ) -> BackfillResult:
        """Load a part of the past again."""
        ...

    def ensure(self, table: Table, connection: str, on_drift: OnDrift) -> tuple[str, ...]:
        """Bring a table into being as declared; return the statements that were run."""
        ...

    def columns(self, connection: str, table: TableName) -> tuple[ActualColumn, ...] | None:
        """Return the columns of a table, or None where there is no such table."""
        ...

    def dialect(self, connection: str) -> str:
        """Return the SQL that a connection speaks."""
        ...

    def read_frame(self, connection: str, query: str, kind: str | None) -> Any:
        """Return the rows of a query as a frame of that kind."""
        ...


class RunnerFactory(Protocol):
    """Makes the runner of a project."""

    def __call__(self, project: Project, *, session: object | None, directory: Path) -> Runner:
        """
        :param session: A Spark session of the user's to run on.
        :param directory: Where the project's TOML and state are.
        """
        ...


_factory: list[RunnerFactory] = []


def use_runner(factory: RunnerFactory) -> None:
    """Let *factory* make the runner of a project."""
    _factory[:] = [factory]


def runner_of(
    project: Project, *, session: object | None = None, directory: Path = Path()
) -> Runner:
    """Return who runs what *project* declares."""
    refuse_while_loading("something is run")
    if not _factory:
        raise UsageError(
            "no engine is attached", hint="import from ematix_flow, not from its submodules"
        )
    return _factory[0](project, session=session, directory=directory)
