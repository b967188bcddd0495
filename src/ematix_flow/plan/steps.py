"""The steps of a run, as data. `explain` prints them, the engine walks them: the same list."""

from __future__ import annotations

from dataclasses import dataclass

from ematix_flow.ports import SourceFacts
from ematix_flow.resolve.query import Place
from ematix_flow.resolve.signature import Argument
from ematix_flow.spec.contract import Contract
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.table import Table, TableName
from ematix_flow.spec.udf import UserFunction
from ematix_flow.sqltext.program import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepare:
    """Create what is missing on the target and take the pipeline's fence, before Spark starts.

    :param destructive: Statements that may lose values that are there; without consent to them
        there is no run.
    :param optional: The same, but rows fit without them; without consent they are left out.
    """

    connection: str
    ddl: tuple[str, ...]
    destructive: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
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
class Commit:
    """One transaction on the target: fence, write program, ledger row."""

    connection: str
    table: Table
    target: TableName
    mode: Mode
    program: tuple[Statement, ...]
    name: str = "commit"


Step = (
    Prepare
    | ReadRelation
    | ReadQuery
    | Transform
    | CallFunction
    | Normalize
    | Validate
    | Stage
    | Commit
)
