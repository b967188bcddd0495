"""Which functions a query calls, and which names are free for a user's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from ematix_flow._base.location import Location
from ematix_flow.errors import QueryError
from ematix_flow.spec.udf import SparkUdf, Udaf, Udf, UserFunction
from ematix_flow.sqltext.function_names import functions

# A query is read in one of these before it becomes Spark's.
_READ_AS = ("spark", "duckdb", "postgres", "mysql", "sqlite")


def called_functions(query: exp.Expr) -> frozenset[str]:
    """Return the names, in lower case, of the functions *query* calls that sqlglot does not know.

    A user's function is always among them: `why_taken` lets no other name be declared.
    """
    return frozenset(call.name.lower() for call in _calls(query))


def used_functions(
    query: exp.Expr, declared: Mapping[str, UserFunction], where: Location | str
) -> tuple[UserFunction, ...]:
    """Return those of the *declared* functions that *query* calls; a wrong call is an error."""
    if not declared:
        return ()
    by_name = {name.lower(): spec for name, spec in declared.items()}
    used: dict[str, UserFunction] = {}
    for call in _calls(query):
        spec = by_name.get(call.name.lower())
        if spec is not None:
            used[spec.name] = spec
            if not isinstance(spec, SparkUdf):
                _check_arguments(call, spec, where)
    return tuple(spec for _, spec in sorted(used.items()))


def _check_arguments(call: exp.Anonymous, spec: Udf | Udaf, where: Location | str) -> None:
    if any(isinstance(each, exp.Kwarg) for each in call.expressions):
        raise QueryError(
            f"{spec.name} takes its arguments by position: {call.sql(normalize_functions=False)}",
            where=where,
            hint="pass them without names",
        )
    if len(call.expressions) != len(spec.args):
        raise QueryError(
            f"{spec.name} is called with {len(call.expressions)} argument(s), {spec.location} "
            f"declares {len(spec.args)} ({', '.join(str(kind) for kind in spec.args)})",
            where=where,
            hint="pass as many as args declares",
        )


def _calls(query: exp.Expr) -> Iterator[exp.Anonymous]:
    for call in query.find_all(exp.Anonymous):
        # `schema.f(x)` is a function of that schema, never one of ours.
        if not (isinstance(call.parent, exp.Dot) and call.parent.expression is call):
            yield call


def why_taken(name: str) -> str | None:
    """Return why a user's function cannot have *name*, or None if it can."""
    if name.lower() in functions("spark"):
        return "Spark has a function of that name"
    for dialect in _READ_AS:
        if not _stays_a_call(name, dialect):
            return f"it means something else in {dialect} SQL"
    return None


def _stays_a_call(name: str, dialect: str) -> bool:
    """Tell whether a call of *name* is read as just that, not as a word of the language."""
    try:
        read = sqlglot.parse_one(f"SELECT {name}(a)", dialect=dialect)  # read only, never run
    except SqlglotError:
        return False
    called = read.selects[0] if isinstance(read, exp.Select) else None
    return isinstance(called, exp.Anonymous) and called.this == name
