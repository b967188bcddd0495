"""The steps of a run, as data. `explain` prints them, the engine walks them: the same list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ematix_flow._base.location import Location
from ematix_flow.ports import SourceFacts
from ematix_flow.resolve.query import Place
from ematix_flow.resolve.signature import Argument
from ematix_flow.spec.contract import Contract
from ematix_flow.spec.layout import Layout
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.table import Table, TableName
from ematix_flow.spec.transform import (
    DeduplicateBy,
    FilterWhere,
    FunctionStep,
    Limit,
    SamplePct,
    SqlStep,
)
from ematix_flow.spec.udf import UserFunction
from ematix_flow.spec.window import Window
from ematix_flow.sqltext.in_database import Selection
from ematix_flow.sqltext.program import Program

PreTransform = DeduplicateBy | FilterWhere | Limit | SamplePct | SqlStep | FunctionStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepare:
    """Create what is missing on the target, before Spark starts.

    :param alters: Those of the statements, destructive ones included, that change a table that is
        there.
    :param destructive: Statements that may lose values that are there; without consent to them
        there is no run.
    :param optional: The same, but rows fit without them; without consent they are left out.
    """

    connection: str
    ddl: tuple[str, ...]
    destructive: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    alters: tuple[str, ...] = ()
    name: str = "prepare"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRelation:
    """Read a file or table; its rows are known to the query as *relation*."""

    connection: str
    relation: str
    facts: SourceFacts
    known_as: str | None = None
    """Another name for its rows: a parameter's."""
    name: str = "read"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadQuery:
    """Run a query in the source and read its result.

    :param relation: The table that the query reads whole; None for a query of the user's.
    :param known_as: The name that its rows have for the query on Spark or for the function;
        None where they are the pipeline's rows themselves.
    """

    connection: str
    query: str
    dialect: str
    facts: SourceFacts
    relation: str | None = None
    known_as: str | None = None
    name: str = "read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """Run the query on Spark over what was read.

    :param udfs: The Python functions that it calls.
    """

    query: str
    udfs: tuple[UserFunction, ...] = ()
    name: str = "transform"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFunction:
    """Call the pipeline's function with frames; what it returns are the rows.

    :param source: Where the queries of *source_connection* run.
    """

    pipeline: Pipeline
    arguments: tuple[Argument, ...]
    source_connection: str | None
    source: Place | None
    udfs: tuple[UserFunction, ...] = ()
    name: str = "transform"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restrict:
    """Keep the rows of the window, in the same pass; a database may have left out some already."""

    window: Window
    location: Location
    name: str = "window"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reshape:
    """Do one of the pipeline's transforms_pre to its rows.

    :param udfs: The Python functions that its SQL may call.
    """

    change: PreTransform
    pipeline: Pipeline
    udfs: tuple[UserFunction, ...] = ()
    name: str = "reshape"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrange:
    """Give rows the target's column names, and what says where each belongs; in the same pass.

    :param column_map: The query's names -> the target's.
    :param deletes: The SQL condition on a row of the query that makes it a deletion.
    :param cursor: The incremental column.
    :param untyped: Whether the source has no types: a number that comes as text sorts wrongly.
    """

    layout: Layout
    location: Location
    column_map: tuple[tuple[str, str], ...] = ()
    deletes: str | None = None
    cursor: str | None = None
    untyped: bool = False
    name: str = "arrange"


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalize:
    """Apply the target table's markers to the rows, in the same pass."""

    table: Table
    name: str = "normalize"


@dataclass(frozen=True, slots=True, kw_only=True)
class Validate:
    """Judge each row by the target table's declaration, in the same pass.

    :param as_json: The arrays and structs that the target keeps as JSON text.
    """

    contract: Contract
    as_json: tuple[str, ...] = ()
    name: str = "validate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Run the job: good and bad rows become durable in staging, the target is untouched."""

    name: str = "stage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Carry:
    """Run the query in the source and carry its rows into a table of the committing session.

    :param connection: Where they are carried to.
    :param table: The columns of the query, as they arrive.
    :param relation: What the rows are called there.
    """

    connection: str
    read: ReadQuery
    table: Table
    relation: str
    name: str = "carry"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectInTarget:
    """Have the target's database select the rows itself, in the session that commits them.

    :param read: What would be read of it otherwise.
    :param shaping: The steps whose work its query does, beside checking the rules.
    :param is_settled: Whether it selects the same rows however often it is run.
    """

    connection: str
    read: ReadQuery
    selection: Selection
    contract: Contract
    shaping: tuple[Restrict | Reshape | Arrange | Normalize, ...] = ()
    is_settled: bool = False
    name: str = "select"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One transaction on the target: fence, write program, ledger row."""

    connection: str
    target: TableName
    layout: Layout
    program: Program
    name: str = "commit"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAfter:
    """Run SQL after the commit, in a transaction of its own.

    :param continue_on_failure: Whether what follows is done even if this fails.
    """

    connection: str
    sql: tuple[str, ...]
    label: str
    continue_on_failure: bool = False
    name: str = "after"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAfter:
    """Call a function after the commit; SQL that it returns is run in a transaction of its own."""

    connection: str
    pipeline: Pipeline
    function: Callable[..., object]
    dialect: str
    continue_on_failure: bool = False
    name: str = "after"


RowStep = ReadRelation | ReadQuery | Transform | CallFunction | Restrict | Reshape
TargetStep = Restrict | Arrange | Normalize | Validate
AfterStep = RunAfter | CallAfter
Step = Prepare | RowStep | TargetStep | Stage | Carry | SelectInTarget | Commit | AfterStep


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSteps:
    """What brings the rows into one target.

    :param contract: What the rows are judged by, on Spark or in the database itself.
    :param shape: What is done to the rows for this target, in the pass that stages them.
    :param carry: How rows of another database get into the committing session without Spark.
    :param source: Where the commit finds the rows: in staging, or by a query of its own.
    """

    prepare: Prepare
    contract: Contract
    shape: tuple[TargetStep, ...]
    source: Stage | SelectInTarget
    commit: Commit
    carry: Carry | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps in order, from the pipeline's rows to the commit."""
        carried = () if self.carry is None else (self.carry,)
        return (*carried, *self.shape, self.source, self.commit)

    @property
    def arrange(self) -> Arrange | None:
        """The step that gives rows the names of this target, where one is needed."""
        return next((step for step in self.shape if isinstance(step, Arrange)), None)
