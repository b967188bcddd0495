"""The steps of a run, as data. `explain` prints them, the engine walks them: the same list."""

from __future__ import annotations

from dataclasses import dataclass

from ematix_flow.ports import SourceFacts
from ematix_flow.spec.contract import Contract
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.table import Table, TableName
from ematix_flow.sqltext.program import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepare:
    """Create what is missing on the target and take the pipeline's fence, before Spark starts."""

    connection: str
    ddl: tuple[str, ...]
    name: str = "prepare"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRelation:
    """Read a file or table; its rows are known to the query as *relation*."""

    connection: str
    relation: str
    facts: SourceFacts
    name: str = "read"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadQuery:
    """Run the whole query in the source and read its result."""

    connection: str
    query: str
    dialect: str
    facts: SourceFacts
    name: str = "read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """Run the query on Spark over what was read."""

    query: str
    name: str = "transform"


@dataclass(frozen=True, slots=True, kw_only=True)
class Validate:
    """Judge each row by the target table's declaration, in the same pass."""

    contract: Contract
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


Step = Prepare | ReadRelation | ReadQuery | Transform | Validate | Stage | Commit


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run of one pipeline will do."""

    pipeline: str
    location: str
    mode: Mode
    source_connection: str
    target_connection: str
    target: str
    path: str
    path_why: str
    steps: tuple[Step, ...]
    connectors: tuple[str, ...]
    input_bytes: int | None
    target_exists: bool
    last_commit: str | None
    remarks: tuple[str, ...] = ()
