"""The dialects that sqlglot knows and nobody has compared: its translation, kept honest."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import ErrorLevel, UnsupportedError

from ematix_flow._base.location import Location
from ematix_flow._base.suggest import nearest
from ematix_flow.errors import DialectError
from ematix_flow.sqltext.dialect import as_written
from ematix_flow.sqltext.function_names import functions
from ematix_flow.sqltext.translate.refusal import fragment


def attempt(
    query: exp.Query, *, read: str, write: str, where: Location | str, udfs: frozenset[str]
) -> str:
    """Return sqlglot's own translation, unless it names a function *write* does not have."""
    known = functions(write)
    for node in query.find_all(exp.Anonymous):
        name = node.name.lower()
        if name not in known and name not in udfs:
            guess = nearest(name, known)
            raise DialectError.about(
                fragment(node, as_written(query), read),
                f"there is no function {name}",
                f"did you mean {guess}?" if guess else f"use a function that {write} has",
                write=write,
                where=where,
            )
    return render(query.copy(), read=read, write=write, where=where)


def render(query: exp.Query, *, read: str, write: str, where: Location | str) -> str:
    """Return the text of a tree that may be changed; what would be left out is an error."""
    try:
        return query.sql(
            dialect=write,
            unsupported_level=ErrorLevel.RAISE,
            comments=False,
            copy=False,
            # The user's own functions keep the case they were registered in.
            normalize_functions=False,
        )
    except UnsupportedError as error:
        raise DialectError.about(
            fragment(query, None, read),
            str(error).strip(),
            f'write the query in {write} SQL and say dialect="{write}"',
            write=write,
            where=where,
        ) from error
