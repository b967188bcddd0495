"""The dialects of SQL, and reading a user's query in one."""

from __future__ import annotations

import re

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialects
from sqlglot.errors import ParseError, TokenError

from ematix_flow._base.location import Location
from ematix_flow.errors import QueryError, UnknownName
from ematix_flow.sqltext.datafusion import DataFusion

# Every function and operator of these is either proven equal where it runs, or refused.
FULL = ("spark", "duckdb", "datafusion", "postgres")

_ALIASES = {
    "postgresql": "postgres",
    "pg": "postgres",
    "sparksql": "spark",
    "spark_sql": "spark",
    "sqlite3": "sqlite",
}
# Not languages of queries, or a second name for one that is listed.
_NOT_OFFERED = {"", "dax", "prql", "spark2", "tableau"}
_KNOWN = frozenset(each.value for each in Dialects) - _NOT_OFFERED | {DataFusion.__name__.lower()}
_WRITTEN = "written"
# PostgreSQL allows them inside of a SELECT.
_MAY_CHANGE = re.compile(r"\b(?:insert|update|delete|merge|into|create)\b", re.IGNORECASE)
_CHANGES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Into, exp.Create)


def known_dialect(name: str, where: Location | str | None) -> str:
    """Return the dialect's own name for *name*; an unknown one is an error."""
    folded = name.strip().lower()
    folded = _ALIASES.get(folded, folded)
    if folded not in _KNOWN:
        raise UnknownName.among("SQL dialect", name, _KNOWN, where=where)
    return folded


def parse_query(text: str, *, dialect: str, where: Location | str) -> exp.Query:
    """Read the one SELECT in *text*; anything else is an error that shows the fragment."""
    try:
        statements = [each for each in sqlglot.parse(text, dialect=dialect) if each is not None]
    except (ParseError, TokenError) as error:
        raise QueryError(_explain(error), where=where, hint=_HINT.format(dialect)) from error
    if not statements:
        raise QueryError("the query is empty", where=where, hint="return one SELECT statement")
    if len(statements) > 1:
        raise QueryError(
            f"the query holds {len(statements)} statements; a pipeline returns one SELECT",
            where=where,
            hint="split it into several pipelines",
        )
    [statement] = statements
    if not isinstance(statement, exp.Query):
        raise QueryError(
            f"a pipeline returns a SELECT, not {_beginning(text)!r}",
            where=where,
            hint="return the rows; the pipeline's mode decides how they are written",
        )
    if _MAY_CHANGE.search(text) and (change := statement.find(*_CHANGES)) is not None:
        raise QueryError(
            f"a pipeline's query only reads, but {_beginning(change.sql(dialect=dialect))!r} "
            "changes something",
            where=where,
            hint="return the rows; the pipeline's mode decides how they are written",
        )
    statement.meta[_WRITTEN] = text
    return statement


def as_written(query: exp.Expr) -> str | None:
    """Return the text that `parse_query` read *query* from."""
    text: str | None = query.meta.get(_WRITTEN)
    return text


def _beginning(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 40 else words[:40] + " ..."


_HINT = "the query is read as {} SQL, the dialect of its source"


def _explain(error: ParseError | TokenError) -> str:
    facts = getattr(error, "errors", None)
    if not facts:
        return f"the SQL does not parse: {error}"
    first = facts[0]
    near = "".join(filter(None, (first["start_context"], first["highlight"], first["end_context"])))
    return (
        f"the SQL does not parse: {first['description']} "
        f"(line {first['line']}, column {first['col']}), near: {' '.join(near.split())[:120]}"
    )
