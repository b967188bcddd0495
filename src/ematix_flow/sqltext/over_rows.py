"""SQL over a pipeline's rows, which it knows as `source`."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow._base.location import Location
from ematix_flow.errors import QueryError
from ematix_flow.sqltext.dialect import parse_query

SOURCE = "source"


def over_rows(sql: str, view: str, where: Location) -> str:
    """Return *sql* with `source` replaced by *view*; else it stays as its author wrote it."""
    query = parse_query(sql, dialect="spark", where=where)
    if any(cte.alias.casefold() == SOURCE for cte in query.find_all(exp.CTE)):
        raise QueryError(
            f"the SQL has a WITH {SOURCE}, and {SOURCE} are the pipeline's rows",
            where=where,
            hint="give the WITH another name",
        )
    names = [
        table.this
        for table in query.find_all(exp.Table)
        if table.name.casefold() == SOURCE and not table.db
    ]
    if not names:
        raise QueryError(
            f"the SQL of transforms_pre does not read {SOURCE}, the pipeline's rows",
            where=where,
            hint="write SELECT ... FROM source",
        )
    text = sql.strip().rstrip(";")
    shift = len(sql) - len(sql.lstrip())
    for name in sorted(names, key=lambda each: each.meta["start"], reverse=True):
        start, end = name.meta["start"] - shift, name.meta["end"] + 1 - shift
        # Columns may be written as source.name.
        alias = "" if name.parent.alias else f" AS {SOURCE}"
        text = f"{text[:start]}{view}{alias}{text[end:]}"
    return text
