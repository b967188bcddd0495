"""What an incremental load cannot be combined with."""

from __future__ import annotations

from datetime import timedelta

from ematix_flow._base.location import Location
from ematix_flow.errors import DeclarationError
from ematix_flow.spec.modes import HandleDeletes, Mode
from ematix_flow.spec.pipeline import ReadOptions, TargetSpec
from ematix_flow.spec.table import Table
from ematix_flow.spec.types import (
    BigInt,
    Date,
    Double,
    Float,
    Integer,
    Numeric,
    SmallInt,
    Timestamp,
    TimestampTZ,
)

_NUMBERS = (SmallInt, Integer, BigInt, Numeric, Float, Double)
_TIMES = (Date, Timestamp, TimestampTZ)


def check_incremental(
    read: ReadOptions, targets: tuple[TargetSpec, ...], where: Location | str
) -> None:
    """Refuse what needs the whole source, and a lookback of the wrong kind."""
    if read.incremental_column is None:
        return
    for target in targets:
        if target.write.handle_deletes is not HandleDeletes.IGNORE:
            raise DeclarationError(
                f"handle_deletes={target.write.handle_deletes.value!r} deletes keys that a whole "
                "snapshot lacks, and an incremental load is only a part of one",
                where=where,
                hint="drop incremental_column, or mark deletions: apply_as_deletes=\"op = 'd'\"",
            )
        _check_lookback(read, target, where)
        if target.write.mode is Mode.TRUNCATE:
            raise DeclarationError(
                "mode 'truncate' replaces all rows, and an incremental load is only a part of them",
                where=where,
                hint="drop incremental_column, or choose another mode",
            )


def _check_lookback(read: ReadOptions, target: TargetSpec, where: Location | str) -> None:
    """Refuse what cannot be counted back from: else only the second run would find out."""
    name = read.incremental_column
    if name is None or read.lookback is None or not isinstance(target.table, Table):
        return
    stored_as = dict(target.write.column_map).get(name, name)
    kind = next((each.type for each in target.table.columns if each.name == stored_as), None)
    wanted: str | None = None
    if isinstance(kind, _NUMBERS) and not isinstance(read.lookback, int):
        wanted = "a whole number"
    elif isinstance(kind, _TIMES) and not isinstance(read.lookback, timedelta):
        wanted = "a duration ('2h')"
    if wanted:
        raise DeclarationError(
            f"{name} is {kind}, so lookback takes {wanted}, not {read.lookback!r}",
            where=where,
        )
