"""A query's columns against the columns that a table declares."""

from __future__ import annotations

from collections.abc import Sequence

from ematix_flow._base.suggest import nearest
from ematix_flow.errors import ContractError
from ematix_flow.spec.normalize.expression import derives
from ematix_flow.spec.table import Table


def match_columns(offered: Sequence[str], table: Table) -> dict[str, str]:
    """Pair declared columns with the query's, by name without regard to case."""
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
    declared = [column.name for column in table.columns if not derives(column.markers)]
    missing = [name for name in declared if name.casefold() not in found]
    if missing:
        guess = nearest(missing[0], offered)
        raise ContractError(
            f"the query does not return {', '.join(missing)}, declared by {table.name} "
            f"(it returns: {', '.join(offered)})",
            where=table.location,
            hint=f"SELECT {guess} AS {missing[0]}" if guess else f"add {missing[0]} to the SELECT",
        )
    extra = sorted(set(found) - {name.casefold() for name in declared})
    if extra:
        raise ContractError(
            f"the query returns {', '.join(found[name] for name in extra)}, "
            f"which {table.name} does not declare",
            where=table.location,
            hint="select only declared columns, or declare it: nothing is dropped silently",
        )
    return {name: found[name.casefold()] for name in declared}
