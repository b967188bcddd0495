"""Which part each column of a target plays in a load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ematix_flow.errors import PlanError
from ematix_flow.ports import ActualColumn
from ematix_flow.resolve.keys import merge_keys
from ematix_flow.spec.layout import AUDIT, IS_DELETED, Layout
from ematix_flow.spec.modes import HandleDeletes, Mode, OnDuplicateKeys
from ematix_flow.spec.pipeline import HistoryColumns, TargetSpec, WriteOptions
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import (
    BigInt,
    Boolean,
    DataType,
    Integer,
    SmallInt,
    Timestamp,
    TimestampTZ,
)

# Of these, the one that is declared marks deleted rows.
_MARKS: dict[str, tuple[type[DataType], ...]] = {
    IS_DELETED.name: (Boolean,),
    "is_deleted": (Boolean,),
    "deleted_at": (Timestamp, TimestampTZ),
}


def layout_of(
    target: TargetSpec,
    table: Table,
    actual: tuple[ActualColumn, ...] | None,
    *,
    has_cursor: bool = False,
    known_rows: bool = False,
) -> Layout:
    """Return the roles of the columns of *table*.

    :param actual: The columns of the table as it is; None where it is still to be created.
    :param has_cursor: Whether an incremental column is read.
    :param known_rows: Whether rows may be read again that are there already.
    """
    write, roles = target.write, _Roles.of(target, table, actual)
    layout = Layout(
        table=roles.physical(table, write),
        mode=write.mode,
        given=roles.given,
        keys=roles.keys,
        compare=_compare(write, roles.values),
        update=write.update_columns or roles.values,
        order=write.order,
        has_deletion_flag=write.apply_as_deletes is not None,
        handle_deletes=write.handle_deletes,
        soft_column=roles.mark.name if roles.mark else None,
        ignore_null_updates=write.ignore_null_updates,
        on_duplicate_keys=write.on_duplicate_keys
        or (OnDuplicateKeys.LAST if write.order else OnDuplicateKeys.ERROR),
        max_delete_fraction=write.max_delete_fraction,
        history=roles.history,
        ttl=write.ttl,
        audit=tuple(each.name for each in roles.audit),
        has_cursor=has_cursor,
        known_rows=known_rows,
    )
    for problem, hint in _impossible(layout, write):
        raise PlanError(f"{table.name}: {problem}", where=target.location, hint=hint)
    return layout


@dataclass(frozen=True, slots=True, kw_only=True)
class _Roles:
    """What is given, and what is kept beside it.

    :param mark: The column that marks deleted rows.
    """

    given: tuple[str, ...]
    keys: tuple[str, ...]
    history: HistoryColumns | None
    mark: Column | None
    audit: tuple[Column, ...]

    @classmethod
    def of(
        cls, target: TargetSpec, table: Table, actual: tuple[ActualColumn, ...] | None
    ) -> _Roles:
        history, mark = _history(target.write), _mark(target.write, table)
        kept = {*_history_names(history), *(each.name for each in AUDIT), mark.name if mark else ""}
        return cls(
            given=tuple(name for name in table.column_names if name not in kept),
            keys=_keys(target, table),
            history=history,
            mark=mark,
            audit=tuple(each for each in AUDIT if actual is None or _has(actual, each)),
        )

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(name for name in self.given if name not in self.keys)

    def physical(self, table: Table, write: WriteOptions) -> Table:
        """Return the table as it is in the database."""
        ours = (
            *_history_columns(table, self.history, write.order),
            *((self.mark,) if self.mark else ()),
            *self.audit,
        )
        names = {column.name for column in ours}
        declared = [column for column in table.columns if column.name not in names]
        if not (write.mode.needs_key and self.keys):
            return replace(table, columns=(*declared, *ours))
        # Each version of a row repeats what is unique without history.
        begins = (self.history.valid_from,) if self.history else ()
        unique = [(*each, *begins) for each in table.unique_constraints]
        if set(self.keys) != set(table.primary_key):
            unique.append((*self.keys, *begins))
        return replace(
            table,
            columns=(*declared, *ours),
            merge_keys=self.keys,
            unique_constraints=tuple(dict.fromkeys(unique)),
        )


def _keys(target: TargetSpec, table: Table) -> tuple[str, ...]:
    chosen = merge_keys(target)
    if chosen is not None:
        return chosen.columns
    # Rows that only grow are matched nowhere, but a key tells one that is there already.
    return target.write.keys or table.merge_keys or table.key_columns


def _compare(write: WriteOptions, values: tuple[str, ...]) -> tuple[str, ...]:
    if write.mode is not Mode.SCD2:
        return write.compare_columns or write.update_columns or values
    # A later event that says the same is no new version.
    return write.compare_columns or tuple(name for name in values if name not in write.order)


def _history(write: WriteOptions) -> HistoryColumns | None:
    if write.mode is not Mode.SCD2:
        return None
    return write.history_columns or HistoryColumns()


def _history_names(history: HistoryColumns | None) -> tuple[str, ...]:
    return (history.valid_from, history.valid_to, history.is_current) if history else ()


def _history_columns(
    table: Table, history: HistoryColumns | None, order: tuple[str, ...]
) -> tuple[Column, ...]:
    """Return the columns that keep history, whether or not the table declares them."""
    if history is None:
        return ()
    declared = {column.name: column for column in table.columns}
    begins = declared.get(history.valid_from)
    ordering = declared.get(order[0]) if order else None
    kind = begins.type if begins else _moment(ordering)
    return (
        Column(name=history.valid_from, type=kind, primary_key=bool(table.primary_key)),
        Column(name=history.valid_to, type=kind, nullable=True),
        Column(name=history.is_current, type=Boolean()),
    )


def _moment(ordering: Column | None) -> DataType:
    """Return the type of a version's beginning: a time, or a number where versions are counted."""
    match ordering.type if ordering else None:
        case Timestamp():
            return Timestamp()
        case SmallInt() | Integer() | BigInt():
            return BigInt()
        case _:
            return TimestampTZ()


def _mark(write: WriteOptions, table: Table) -> Column | None:
    if write.handle_deletes is not HandleDeletes.SOFT:
        return None
    for column in table.columns:
        if isinstance(column.type, _MARKS.get(column.name, ())):
            return replace(column, nullable=True)
    return IS_DELETED


def _has(actual: tuple[ActualColumn, ...], column: Column) -> bool:
    return any(each.name.casefold() == column.name for each in actual)


def _impossible(layout: Layout, write: WriteOptions) -> Iterator[tuple[str, str]]:
    """Yield what cannot be kept, and what to do about it."""
    if layout.history is None and layout.order:
        if layout.sets_part and layout.has_deletion_flag:
            lost = "what a deleted key's other columns were cannot be known when events come late"
            yield (
                f"update_columns with an order and apply_as_deletes: {lost}",
                "drop update_columns, or one of the two",
            )
        if layout.sets_part and layout.ignore_null_updates:
            yield (
                "update_columns and ignore_null_updates cannot both be kept in any order of events",
                "drop one of them",
            )
        if write.compare_columns and set(write.compare_columns) != set(layout.values):
            yield (
                "compare_columns with an order: which row is kept would depend on when it came",
                "drop compare_columns, or the order",
            )
    if layout.history is not None and not isinstance(layout.history_type, Timestamp | TimestampTZ):
        if layout.ttl is not None:
            yield "ttl needs a history in time, and this one is numbered", "order by a timestamp"
        if layout.handle_deletes is not HandleDeletes.IGNORE:
            yield (
                "handle_deletes needs a history in time: a numbered one cannot say when a key went",
                "order by a timestamp, or mark deletions with apply_as_deletes",
            )
