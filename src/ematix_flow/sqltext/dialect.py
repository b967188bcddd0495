"""Reading a user's SQL."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from ematix_flow._base.location import Location
from ematix_flow.errors import QueryError


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
    return statement


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
