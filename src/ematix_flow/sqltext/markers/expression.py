"""The user's own expressions: read as Spark SQL, refused unless they are scalar."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from ematix_flow._base.suggest import did_you_mean
from ematix_flow.spec.normalize.expression import Derive, Expression
from ematix_flow.sqltext.identifiers import column
from ematix_flow.sqltext.markers.nodes import Node
from ematix_flow.sqltext.spark_functions import SPARK_OVER_ROWS

VALUE = "_flow_value"

_REFUSED: tuple[tuple[tuple[type[Node], ...], str], ...] = (
    ((exp.Query, exp.Subquery), "a query"),
    ((exp.AggFunc,), "an aggregate"),
    ((exp.Window,), "a window"),
    ((exp.Explode, exp.Unnest, exp.UDTF), "a function that makes several rows"),
    ((exp.Star,), "a star"),
    ((exp.Placeholder, exp.Parameter), "a parameter"),
)


_JAVA = frozenset({"java_method", "reflect", "try_reflect"})


class ExpressionError(ValueError):
    """An expression that is not one value of one row; `hint` is one thing to do about it."""

    def __init__(self, what: str, hint: str | None = None) -> None:
        super().__init__(what)
        self.hint = hint


def read_expression(marker: Expression, own: str, columns: Collection[str]) -> Node:
    """Return the expression with declared names, the value itself being the column VALUE.

    :param own: The column that the marker stands on.
    :param columns: All columns of the table.
    """
    names = {name.casefold(): name for name in columns}
    parsed = _parsed(marker)
    for kinds, what in _REFUSED:
        found = next(parsed.find_all(*kinds), None)
        if found is not None:
            raise ExpressionError(
                f"{marker} holds {what}: {found.sql(dialect='spark').replace(VALUE, '{}')}",
                "an expression makes one value of the columns of one row; "
                "do the rest in the pipeline's query",
            )
    for call in parsed.find_all(exp.Anonymous):  # what sqlglot knows only by name
        if call.name.lower() in SPARK_OVER_ROWS | _JAVA:
            raise ExpressionError(
                f"{marker} calls {call.name}, which is no function of one row's values",
                "do it in the pipeline's query",
            )
    for each in list(parsed.find_all(exp.Column)):
        parsed = _named(parsed, each, marker, own, names)
    return parsed


def references(node: Node) -> set[str]:
    """Return the columns that *node* reads, the value itself left out."""
    return {each.parts[0].name for each in node.find_all(exp.Column)} - {VALUE}


def _parsed(marker: Expression) -> Node:
    try:
        text = _with_value(marker.text)
        statements = sqlglot.parse(text, dialect="spark")
    except (ParseError, TokenError) as error:
        facts = getattr(error, "errors", None)
        why = facts[0]["description"] if facts else str(error)
        raise ExpressionError(f"{marker} does not parse: {why}") from error
    [parsed, *more] = statements
    if more or not isinstance(parsed, exp.Condition | exp.Interval):
        raise ExpressionError(
            f"{marker} is not one expression", "write what could stand in a SELECT, without AS"
        )
    return parsed


def _with_value(text: str) -> str:
    """Put the value's name where `{}` stands, but not inside of quotes."""
    tokens = sqlglot.tokenize(text, dialect="spark")
    for left, right in reversed(list(pairwise(tokens))):
        if (left.token_type.name, right.token_type.name) == ("L_BRACE", "R_BRACE"):
            text = f"{text[: left.start]}{VALUE}{text[right.end + 1 :]}"
    return text


def _named(
    parsed: Node, found: exp.Column, marker: Expression, own: str, names: dict[str, str]
) -> Node:
    first, *fields = found.parts
    name = names.get(first.name.casefold())
    if first.name == VALUE or name == own:
        if isinstance(marker, Derive):
            raise ExpressionError(
                f"{marker} reads {own} itself, which has no value yet",
                "use sql(...) to change a value that the query returns",
            )
        name = VALUE
    elif name is None:
        raise ExpressionError(
            f"{marker} reads the column {first.name!r}, which the table does not declare"
            + did_you_mean(first.name, names.values())
            + f" (declared: {', '.join(names.values())})"
        )
    resolved: Node = column(name)
    for each in fields:
        resolved = exp.Dot(this=resolved, expression=exp.to_identifier(each.name, quoted=True))
    if found is parsed:
        return resolved
    found.replace(resolved)
    return parsed
