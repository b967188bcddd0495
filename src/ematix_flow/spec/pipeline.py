"""A declared pipeline: what it reads, where it writes, when and how carefully."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from ematix_flow._base.location import Location
from ematix_flow.spec.modes import (
    CatchUp,
    HandleDeletes,
    Mode,
    OnDrift,
    OnDuplicateKeys,
    OnQualityFailure,
    Path,
)
from ematix_flow.spec.retry import Retry
from ematix_flow.spec.schedule import Schedule
from ematix_flow.spec.table import Table, TableName
from ematix_flow.spec.transform import TransformStep


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryColumns:
    """The names of the three columns that scd2 keeps."""

    valid_from: str = "valid_from"
    valid_to: str = "valid_to"
    is_current: str = "is_current"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """How rows meet the rows that are already there.

    :param keys: The columns that match rows; empty means what the table itself says.
    :param column_map: The name in the query's result -> the name in the target.
    :param apply_as_deletes: An SQL condition; a row that satisfies it deletes its key.
    """

    mode: Mode = Mode.APPEND
    keys: tuple[str, ...] = ()
    column_map: tuple[tuple[str, str], ...] = ()
    update_columns: tuple[str, ...] = ()
    compare_columns: tuple[str, ...] = ()
    event_timestamp_column: str | None = None
    sequence_by: tuple[str, ...] = ()
    apply_as_deletes: str | None = None
    ignore_null_updates: bool = False
    history_columns: HistoryColumns | None = None
    handle_deletes: HandleDeletes = HandleDeletes.IGNORE
    on_duplicate_keys: OnDuplicateKeys | None = None
    ttl: timedelta | None = None
    max_delete_fraction: float = 0.5
    on_drift: OnDrift = OnDrift.ERROR
    strict_schema: bool = False
    partition_by: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[str, ...]:
        """The columns that order the events of a key: the time first, then what else is named."""
        first = (self.event_timestamp_column,) if self.event_timestamp_column else ()
        return (*first, *(name for name in self.sequence_by if name not in first))


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSpec:
    """One table that a pipeline writes.

    :param table: The declared table, or only its name: its columns are then the query's.
    """

    table: Table | TableName
    connection: str
    write: WriteOptions
    location: Location

    @property
    def name(self) -> TableName:
        """The table's name, declared or not."""
        return self.table.name if isinstance(self.table, Table) else self.table


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What is read, and how the query is written.

    :param source_table: Read this table whole, instead of what the function returns.
    :param incremental_column: Read only rows above its last committed value.
    :param lookback: Read again this far below it, for rows that were committed late: a time,
        or a number for a numeric column.
    :param dialect: The SQL dialect of the query; None means that of where it runs.
    """

    source_table: str | None = None
    incremental_column: str | None = None
    lookback: timedelta | int | None = None
    dialect: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When it runs, after what, and how patiently.

    :param depends_on: Names of pipelines; None lets the query's tables tell.
    :param upstream_freshness: How old an upstream's last success may be, by name; "*" is any.
    """

    schedule: Schedule | None = None
    depends_on: tuple[str, ...] | None = None
    upstream_freshness: tuple[tuple[str, timedelta], ...] = ()
    freshness_sla: timedelta | None = None
    freshness_column: str | None = None
    retry: Retry | None = None
    catch_up: CatchUp = CatchUp.LAST
    lease_ttl: timedelta = timedelta(seconds=60)
    idempotent: bool | None = None
    continue_on_failure: bool = False
    continue_on_failure_post: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """A named SQL condition that every row should satisfy."""

    name: str
    condition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """What the rows should be like beyond their types."""

    expectations: tuple[Expectation, ...] = ()
    on_failure: OnQualityFailure = OnQualityFailure.FAIL
    alert_on_warn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """One source into one or more tables.

    :param function: The user's function; it returns SQL, a Source or a frame.
    :param source_connection: None where the function itself says what to read.
    """

    name: str
    targets: tuple[TargetSpec, ...]
    function: Callable[..., object]
    location: Location
    source_connection: str | None = None
    read: ReadOptions = field(default_factory=ReadOptions)
    timing: Timing = field(default_factory=Timing)
    quality: Quality = field(default_factory=Quality)
    transforms_pre: tuple[TransformStep, ...] = ()
    transforms_post: tuple[TransformStep, ...] = ()
    force_path: Path | None = None
    engine: str | None = None
    tags: tuple[str, ...] = ()
    description: str = ""

    @property
    def target(self) -> TargetSpec:
        """The first target; most pipelines have no other."""
        return self.targets[0]

    @property
    def mode(self) -> Mode:
        """How its (first) target is written."""
        return self.target.write.mode
