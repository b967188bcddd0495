"""A query in the dialect it was written in, made into the dialect where it will run.

Between the fully known dialects every kind of node has a rule (`to_spark`, `from_spark`) that
keeps it, rewrites it exactly, or refuses it with a suggestion. A node without a rule is refused:
nothing passes unseen. Two dialects that are both not Spark's meet at Spark's. The other dialects
that sqlglot knows are best effort: its own translation, minus what it says it cannot do and
minus functions the other side does not have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ematix_flow.sqltext.dialect import as_written, parse_query
from ematix_flow.sqltext.translate.best_effort import attempt, render
from ematix_flow.sqltext.translate.from_spark import FROM_SPARK
from ematix_flow.sqltext.translate.misread import check_reading
from ematix_flow.sqltext.translate.names import check_names
from ematix_flow.sqltext.translate.to_spark import TO_SPARK
from ematix_flow.sqltext.translate.walk import apply

if TYPE_CHECKING:
    from sqlglot import exp

    from ematix_flow._base.location import Location

__all__ = ["translate"]

SPARK = "spark"


def translate(
    query: exp.Query,
    *,
    read: str,
    write: str,
    where: Location | str,
    udfs: frozenset[str] = frozenset(),
) -> str:
    """Return *query* as text of *write*; what has no exact equivalent there is an error.

    :param read: The dialect *query* was parsed in, by `known_dialect`.
    :param write: The dialect where it will run.
    :param udfs: Names of the user's own functions, in lower case, which exist there.
    """
    if read == write:
        return as_written(query) or query.sql(dialect=read)
    if SPARK not in (read, write) and read in TO_SPARK and write in FROM_SPARK:
        text = translate(query, read=read, write=SPARK, where=where, udfs=udfs)
        query, read = parse_query(text, dialect=SPARK, where=where), SPARK
    rules = TO_SPARK.get(read) if write == SPARK else FROM_SPARK.get(write)
    if rules is None or SPARK not in (read, write):
        return attempt(query, read=read, write=write, where=where, udfs=udfs)
    check_reading(query, write=write, where=where)
    check_names(query, read=read, write=write, where=where)
    ready = apply(rules, query, read=read, write=write, where=where, udfs=udfs)
    return render(ready, read=read, write=write, where=where)
