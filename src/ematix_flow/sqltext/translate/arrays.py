"""Arrays and structs on their way to Spark."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.sqltext.translate.build import Rule, all_same, call, number, refused, same, unless
from ematix_flow.sqltext.translate.kinds import GIVEN, Kind, integer, kind_of
from ematix_flow.sqltext.translate.refusal import Refusal


def element(*, from_end: bool) -> Rule:
    """Take one element, NULL where there is none; sqlglot has already counted from 0.

    :param from_end: Whether a negative index counts from the end (DuckDB, DataFusion).
    """

    def rule(node: exp.Bracket) -> exp.Expr:
        [index, *more] = node.expressions
        if more or isinstance(index, exp.Slice):
            raise Refusal(
                "a slice of an array is not known there", "unnest the array and filter it"
            )
        if kind_of(index) is Kind.TEXT:
            raise Refusal("what ['name'] reads depends on the type", "use value.name for a struct")
        position = integer(index)
        if position is None:
            return _computed(node, index, from_end=from_end)
        if position >= 0:
            return call("GET", node.this, number(position))
        if not from_end:
            return call("GET", node.this, exp.Neg(this=number(-position)))
        if position == -1:
            raise Refusal("there is no element 0", "arrays count from 1")
        return call("TRY_ELEMENT_AT", node.this, exp.Neg(this=number(-position - 1)))

    return rule


def _computed(node: exp.Bracket, index: exp.Expr, *, from_end: bool) -> exp.Expr:
    if not isinstance(index, exp.Column):
        # sqlglot may or may not have counted this one from 0 already.
        raise Refusal(
            "only a number or a column is certain as an index", "compute it in a subquery"
        )
    taken = call("GET", node.this, exp.Sub(this=index.copy(), expression=number(1)))
    if not from_end:
        return taken
    below = exp.LT(this=index.copy(), expression=number(1))
    return unless(below, "an index below 1 counts from the end here", taken)


def _contains(node: exp.ArrayContains) -> exp.Expr:
    array, value = node.this, node.expression
    # Spark answers NULL where the array has a NULL and not the value.
    missing = exp.or_(_is_null(array), _is_null(value))
    found = call("COALESCE", call("ARRAY_CONTAINS", array, value), exp.false())
    return call("IF", missing, exp.null(), found, kind=Kind.BOOLEAN)


def _is_null(node: exp.Expr) -> exp.Expr:
    return exp.Is(this=exp.paren(node.copy(), copy=False), expression=exp.null())


def _position(node: exp.ArrayPosition) -> exp.Expr:
    return _found(node.this, node.expression)


def position_named(node: exp.Anonymous) -> exp.Expr:
    """Find a value in an array, NULL where it is not; Spark answers 0."""
    array, value = node.expressions
    return _found(array, value)


def _found(array: exp.Expr, value: exp.Expr) -> exp.Expr:
    position = call("ARRAY_POSITION", array, value)
    return call("NULLIF", position, number(0), kind=Kind.INTEGER)


def _size_postgres(node: exp.ArraySize) -> exp.Expr:
    if node.expression is not None and integer(node.expression) != 1:
        raise Refusal("arrays have one dimension there", "use cardinality(...)")
    size = call("SIZE", node.this)
    # PostgreSQL's array_length of an empty array is NULL.
    return call("NULLIF", size, number(0), kind=Kind.INTEGER)


def _size(node: exp.ArraySize) -> exp.Expr:
    if node.expression is not None:
        raise Refusal("arrays have one dimension there", "leave the dimension out")
    return node


def _series(node: exp.GenerateSeries) -> exp.Expr:
    start, end, step = (node.args.get(each) for each in ("start", "end", "step"))
    first, last, by = integer(start), integer(end), 1 if step is None else integer(step)
    if first is None or last is None or by is None or by <= 0:
        raise Refusal(
            "a series that runs backwards or is empty differs", "use literal ascending bounds"
        )
    if node.args.get("is_end_exclusive"):
        last -= 1
    if last < first:
        raise Refusal("an empty series counts backwards there", "use ascending bounds")
    series = call("SEQUENCE", number(first), number(last), number(by))
    series.meta[GIVEN] = Kind.ARRAY
    return series


def _explode(node: exp.Explode | exp.Unnest) -> exp.Expr:
    if isinstance(node.this, exp.Struct):
        raise Refusal("only arrays are unnested alike", "name the struct's fields")
    return node


def _sorted(node: exp.ArraySort) -> exp.Expr:
    if node.args.get("nulls_first") is not None and not isinstance(
        node.args["nulls_first"], exp.Boolean
    ):
        raise Refusal("where NULLs go must be plain", "leave it out")
    return node


def _struct(node: exp.Struct) -> exp.Expr:
    if not all(isinstance(each, exp.PropertyEQ | exp.Alias) for each in node.expressions):
        raise Refusal("a field without a name is named differently", "name the fields: {'a': 1}")
    return node


_NULLS = refused("NULLs in it are treated differently", "filter the NULLs before")
_MAP = refused("maps differ", "use a struct, or two arrays")

COMMON: dict[type[exp.Expr], Rule] = {
    **all_same(exp.Array, exp.PropertyEQ, exp.Transform, exp.ArrayFilter, exp.Flatten),
    **all_same(exp.ArrayToString, exp.Slice),
    exp.Struct: _struct,
    exp.ArrayAppend: same,
    exp.ArrayPrepend: same,
    exp.ArrayContains: _contains,
    exp.ArrayPosition: _position,
    exp.ArraySize: _size,
    exp.GenerateSeries: _series,
    exp.Explode: _explode,
    exp.ArraySort: _sorted,
    exp.ArrayConcat: refused("a NULL array makes the whole NULL there", "join them with ||"),
    exp.ArrayDistinct: _NULLS,
    exp.Map: _MAP,
    exp.ToMap: _MAP,
    exp.VarMap: _MAP,
    exp.ArrayContainsAll: refused("@> is not known there", "test each value with = ANY(array)"),
    exp.ArrayOverlaps: refused("&& treats NULLs differently", "test values with = ANY(array)"),
}
DUCKDB: dict[type[exp.Expr], Rule] = {
    exp.Bracket: element(from_end=True),
    exp.Split: same,
}
POSTGRES: dict[type[exp.Expr], Rule] = {
    exp.Bracket: element(from_end=False),
    exp.ArraySize: _size_postgres,
    exp.GenerateSeries: refused(
        "GENERATE_SERIES makes rows", "put the values into an array: UNNEST(ARRAY[1, 2, 3])"
    ),
    exp.ExplodingGenerateSeries: refused(
        "GENERATE_SERIES makes rows", "put the values into an array: UNNEST(ARRAY[1, 2, 3])"
    ),
    exp.StringToArray: refused("NULLs and empty texts differ", "use split_part"),
}
DATAFUSION: dict[type[exp.Expr], Rule] = {exp.Bracket: element(from_end=True)}
