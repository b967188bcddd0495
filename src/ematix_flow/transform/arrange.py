"""The query's rows, with the target's names and what says where each row belongs.

A column that only orders or deletes rows is carried under a name of ours, and does not reach
the target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ematix_flow.errors import ContractError
from ematix_flow.plan.steps import Arrange
from ematix_flow.spec.carried import foreign_order
from ematix_flow.spec.layout import CURSOR, DELETED
from ematix_flow.spec.offered import Offered
from ematix_flow.sqltext.conditions import columns_in
from ematix_flow.sqltext.identifiers import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def arrange(frame: DataFrame, step: Arrange) -> DataFrame:
    """Return the rows as *step* wants them: renamed, marked, and without columns of no target."""
    offered = Offered(frame.columns, step.column_map, step.location)
    helpers: dict[str, str] = {}
    aside: set[str] = set()
    if step.deletes is not None:
        # As the query returns the rows, before a marker changes them; NULL deletes nothing.
        helpers[DELETED] = f"coalesce(CAST(({step.deletes}) AS BOOLEAN), false)"
        aside |= {offered.own(name, "apply_as_deletes") for name in columns_in(step.deletes)}
    wanted = list(foreign_order(step.layout).items())
    if step.cursor is not None:
        wanted.append((step.cursor, CURSOR))
    for name, helper in wanted:
        asker = "incremental_column" if helper == CURSOR else "the order of rows"
        theirs = offered.either(name, asker)
        if step.untyped and frame.schema[theirs].dataType.simpleString() == "string":
            raise _untyped(theirs, asker, step)
        helpers[helper] = quoted(theirs, "spark")
        aside.add(theirs)
    given = {name.casefold() for name in step.layout.given}
    return frame.selectExpr(
        *(
            f"{quoted(name, 'spark')} AS {quoted(renamed, 'spark')}"
            for name, renamed in offered.renamed.items()
            if name not in aside or renamed.casefold() in given
        ),
        *(f"{sql} AS {quoted(name, 'spark')}" for name, sql in helpers.items()),
    )


def _untyped(name: str, asker: str, step: Arrange) -> ContractError:
    what = "incremental_column" if asker == "incremental_column" else "what orders rows"
    return ContractError(
        f"{name} is {what}, and in CSV files it is text: as text, 10 comes before 9",
        where=step.location,
        hint=f"say what it is in the query: CAST({name} AS BIGINT) AS {name}, or AS TIMESTAMP",
    )
