"""A query's columns against the columns that a table declares."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ematix_flow._base.suggest import nearest
from ematix_flow.errors import ContractError
from ematix_flow.spec.layout import AUDIT
from ematix_flow.spec.normalize.expression import derives
from ematix_flow.spec.table import Table


def match_columns(
    offered: Sequence[str],
    table: Table,
    *,
    normalized: bool = False,
    ours: Collection[str] = (),
    kept: Collection[str] = (),
) -> dict[str, str]:
    """Pair declared columns with those that are offered, by name without regard to case.

    :param normalized: Whether the markers were applied: derived columns are then there too.
    :param ours: Columns of our own among those that are offered.
    :param kept: Columns of the target that flow fills itself.
    """
    found: dict[str, str] = {}
    for name in offered:
        if name.casefold() in found:
            raise ContractError(
                f"the query returns the column {name!r} twice",
                where=table.location,
                hint="give one of them another name with AS",
            )
        found[name.casefold()] = name
    # A derived column is made from the others, so the query does not return it.
    returned = [column.name for column in table.columns if not derives(column.markers)]
    declared = list(table.column_names) if normalized else returned
    missing = [name for name in declared if name.casefold() not in found]
    # Derived columns are missing only because others are: nothing could be computed.
    missing = [name for name in missing if name in returned] or missing
    if missing:
        guess = nearest(missing[0], offered)
        raise ContractError(
            f"the query does not return {', '.join(missing)}, declared by {table.name} "
            f"(it returns: {', '.join(offered)})",
            where=table.location,
            hint=f"SELECT {guess} AS {missing[0]}" if guess else f"add {missing[0]} to the SELECT",
        )
    # A table that flow wrote says when and by which run: that of its source is not the target's.
    noted = {column.name for column in AUDIT}
    extra = sorted(set(found) - {name.casefold() for name in declared} - set(ours) - noted)
    _refuse_kept([found[name] for name in extra], table, kept)
    if extra:
        raise ContractError(
            f"the query returns {', '.join(found[name] for name in extra)}, "
            f"which {table.name} does not declare",
            where=table.location,
            hint="select only declared columns, or declare it: nothing is dropped silently",
        )
    return {name: found[name.casefold()] for name in declared}


def _refuse_kept(extra: Sequence[str], table: Table, kept: Collection[str]) -> None:
    ours = {name.casefold() for name in kept}
    mine = [name for name in extra if name.casefold() in ours]
    if mine:
        raise ContractError(
            f"the query returns {', '.join(mine)}, which flow itself keeps in {table.name}",
            where=table.location,
            hint=f"leave {mine[0]} out of the SELECT, or give it another name with AS",
        )
