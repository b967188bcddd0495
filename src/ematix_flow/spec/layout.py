"""The roles of a target's columns in one load: what is given, what matches rows, what is ours.

Rows are staged with the columns that the query gives and a few helpers of ours, whose names
are here because every stage from `transform` to `write` passes them on.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ematix_flow.spec.modes import HandleDeletes, Mode, OnDuplicateKeys
from ematix_flow.spec.pipeline import HistoryColumns
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import Boolean, DataType, Text, TimestampTZ

# Helpers in staged rows; they never reach a target.
DELETED = "_flow_deleted"
"""Whether the row deletes its key; never NULL."""
SEQUENCE = "_flow_seq"
"""The order of events as text that sorts like them."""
AT = "_flow_at"
"""When the version that a row of history describes begins."""
CURSOR = "_flow_cursor"
"""The incremental column, as text that sorts like it."""
TASK = "_flow_task"
"""Which attempt at which task has sent the row, where tasks fill a table of the target."""

# What flow itself keeps in a target.
LOADED_AT = Column(name="_loaded_at", type=TimestampTZ(), nullable=True)
BATCH_ID = Column(name="_batch_id", type=Text(), nullable=True)
AUDIT = (LOADED_AT, BATCH_ID)
IS_DELETED = Column(name="_is_deleted", type=Boolean(), nullable=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the columns of one target take part in one load.

    :param table: The table as it is in the database: what is given, and what flow keeps in it.
    :param given: The columns that the query gives.
    :param keys: The columns that match rows.
    :param compare: The columns whose change counts as a change.
    :param update: The columns that a change sets; the others are set when a row is inserted.
    :param order: The columns that order the events of a key, the first one first.
    :param has_deletion_flag: Whether rows say of themselves that they are deletions.
    :param soft_column: What marks a row as deleted, where deletions leave the row.
    :param audit: The columns of `LOADED_AT` and `BATCH_ID` that the table has.
    :param has_cursor: Whether rows carry the incremental column.
    :param known_rows: Whether rows that are there already may be given again (lookback).
    """

    table: Table
    mode: Mode
    given: tuple[str, ...]
    keys: tuple[str, ...] = ()
    compare: tuple[str, ...] = ()
    update: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    has_deletion_flag: bool = False
    handle_deletes: HandleDeletes = HandleDeletes.IGNORE
    soft_column: str | None = None
    ignore_null_updates: bool = False
    on_duplicate_keys: OnDuplicateKeys = OnDuplicateKeys.ERROR
    max_delete_fraction: float = 0.5
    history: HistoryColumns | None = None
    ttl: timedelta | None = None
    audit: tuple[str, ...] = ()
    has_cursor: bool = False
    known_rows: bool = False

    def column(self, name: str) -> Column:
        """Return a column of the table."""
        return next(column for column in self.table.columns if column.name == name)

    @property
    def values(self) -> tuple[str, ...]:
        """The columns that are given and no key."""
        return tuple(name for name in self.given if name not in self.keys)

    @property
    def sets_part(self) -> bool:
        """Whether a change leaves some values as they were when the row was inserted."""
        return bool(set(self.values) - set(self.update))

    @property
    def history_type(self) -> DataType:
        """The type of a version's beginning and end."""
        assert self.history is not None
        return self.column(self.history.valid_from).type

    @property
    def staging(self) -> Table:
        """The staged rows: everything may be NULL there, and nothing is a key."""
        helpers = [
            (self.has_deletion_flag, DELETED, Boolean()),
            (bool(self.order), SEQUENCE, Text()),
            (bool(self.order) and self.history is not None, AT, None),
            (self.has_cursor, CURSOR, Text()),
        ]
        given = tuple(each.bare for each in self.table.columns if each.name in self.given)
        ours = tuple(
            Column(name=name, type=kind or self.history_type, nullable=True)
            for wanted, name, kind in helpers
            if wanted
        )
        return Table(
            name=self.table.name,
            columns=(*given, *ours),
            location=self.table.location,
            merge_keys=self.keys or self.table.key_columns,
        )
