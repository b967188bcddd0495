"""What the options of a target demand of each other and of its table."""

from __future__ import annotations

from collections.abc import Iterator

from ematix_flow._base.location import Location
from ematix_flow._base.suggest import did_you_mean
from ematix_flow.errors import DeclarationError
from ematix_flow.spec.modes import Mode, OnDuplicateKeys
from ematix_flow.spec.pipeline import TargetSpec
from ematix_flow.spec.table import Table

_MATCHING = frozenset({Mode.MERGE, Mode.SCD1, Mode.SCD2})
# Keyword -> the modes in which it means something.
_MODES_OF: dict[str, frozenset[Mode]] = {
    "update_columns": frozenset({Mode.MERGE, Mode.SCD1}),
    "compare_columns": _MATCHING,
    "event_timestamp_column": _MATCHING,
    "sequence_by": _MATCHING,
    "apply_as_deletes": _MATCHING,
    "ignore_null_updates": frozenset({Mode.MERGE, Mode.SCD1}),
    "history_columns": frozenset({Mode.SCD2}),
    "handle_deletes": _MATCHING,
    "on_duplicate_keys": _MATCHING,
    "max_delete_fraction": _MATCHING,
    "ttl": frozenset({Mode.SCD2}),
}


def check_write(target: TargetSpec, given: frozenset[str], where: Location | str) -> None:
    """Refuse options that mean nothing together, before anything is planned."""
    mode = target.write.mode
    for keyword in sorted(given):
        modes = _MODES_OF.get(keyword)
        if modes is not None and mode not in modes:
            raise DeclarationError(
                f"{keyword} means nothing in mode {mode.value!r} "
                f"(it is for {', '.join(sorted(modes))})",
                where=where,
                hint=f"drop {keyword}, or choose another mode",
            )
    if target.write.on_duplicate_keys is OnDuplicateKeys.LAST and not target.write.order:
        raise DeclarationError(
            "on_duplicate_keys='last' needs to know which row is last",
            where=where,
            hint='say by which column: sequence_by="updated_at"',
        )
    if isinstance(target.table, Table):
        check_columns(target, target.table, where)
        _check_keys(target, target.table, where)


def check_columns(target: TargetSpec, table: Table, where: Location | str) -> None:
    """Refuse options that name columns which *table* lacks."""
    for keyword, column in _named_columns(target):
        if column not in table.column_names:
            raise DeclarationError(
                f"{keyword} names {column!r}, which is no column of {table.name}"
                + did_you_mean(column, table.column_names)
                + f" (columns: {', '.join(table.column_names)})",
                where=where,
            )
    history = target.write.history_columns
    if target.write.mode is Mode.SCD2 and history is not None:
        for name in (history.valid_from, history.valid_to, history.is_current):
            if name in table.primary_key:
                raise DeclarationError(
                    f"history_columns names {name!r}, which is the primary key",
                    where=where,
                    hint="choose another name for the history's column",
                )


def _named_columns(target: TargetSpec) -> Iterator[tuple[str, str]]:
    # Columns used only for order or deletion need not exist in the target.
    write = target.write
    for keyword, columns in (
        ("keys", write.keys),
        ("update_columns", write.update_columns),
        ("compare_columns", write.compare_columns),
        ("partition_by", write.partition_by),
        ("column_map", tuple(name for _, name in write.column_map)),
    ):
        for column in columns:
            yield keyword, column


def _check_keys(target: TargetSpec, table: Table, where: Location | str) -> None:
    write = target.write
    keys = write.keys or table.merge_keys or table.natural_key or table.primary_key
    if write.mode.needs_key and not keys:
        raise DeclarationError(
            f"mode {write.mode.value!r} matches rows by key, and {table.name} has none",
            where=where,
            hint="mark a column pk() or natural_key(), or pass keys=[...]",
        )
    nullable = {column.name for column in table.columns if column.nullable}
    for key in keys if write.mode.needs_key else ():
        if key in nullable:
            raise DeclarationError(
                f"key column {key!r} of {table.name} may be NULL, and NULL matches no row",
                where=where,
                hint="declare it NOT NULL, or choose other keys",
            )
    if overlap := set(write.update_columns) & set(keys):
        raise DeclarationError(
            f"update_columns names {min(overlap)!r}, which is a key and never changes",
            where=where,
            hint=f"leave {min(overlap)!r} out of update_columns",
        )
