"""Functions that sqlglot knows only by name, on their way to Spark."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ematix_flow.sqltext.translate.arrays import position_named
from ematix_flow.sqltext.translate.build import Rule, call, refused
from ematix_flow.sqltext.translate.kinds import Kind
from ematix_flow.sqltext.translate.refusal import Refusal


def renamed(name: str, kind: Kind | None = None) -> Rule:
    """Return a rule that calls the same function by its name there."""

    def rule(node: exp.Anonymous) -> exp.Expr:
        return call(name, *node.expressions, kind=kind)

    return rule


_NAMED: Mapping[str, Mapping[str, Rule]] = {
    "duckdb": {
        "list_position": position_named,
        "array_position": position_named,
        "list_indexof": position_named,
        "now": lambda _: exp.CurrentTimestamp(),
        "today": lambda _: exp.CurrentDate(),
        "isnan": renamed("ISNAN", Kind.BOOLEAN),
        "weekday": refused("it counts from Monday there", "use isodow(d) or dayofweek(d)"),
        "columns": refused("columns are not chosen by a pattern there", "name the columns"),
        "age": refused("there are no intervals of months and days", "use date_diff(unit, a, b)"),
    },
    "postgres": {
        "age": refused("there are no intervals of months and days", "subtract the dates"),
        "regexp_match": refused("it returns an array", "use ~, or regexp_replace with 'g'"),
        "octet_length": renamed("OCTET_LENGTH", Kind.INTEGER),
        "cardinality": renamed("CARDINALITY", Kind.INTEGER),
        "make_date": renamed("MAKE_DATE", Kind.DATE),
        "every": renamed("BOOL_AND", Kind.BOOLEAN),
        "row": refused("fields without names are not known there", "select the fields"),
    },
    "datafusion": {
        "cardinality": renamed("CARDINALITY", Kind.INTEGER),
        "make_date": renamed("MAKE_DATE", Kind.DATE),
        "octet_length": renamed("OCTET_LENGTH", Kind.INTEGER),
        "isnan": renamed("ISNAN", Kind.BOOLEAN),
        "date_bin": refused("there are no bins of time", "use date_trunc"),
        "arrow_cast": refused("there are no Arrow types", "use CAST"),
    },
}


def by_name(dialect: str) -> dict[type[exp.Expr], Rule]:
    """Return the rule for calls that are only known by their name."""
    named = _NAMED[dialect]

    def rule(node: exp.Anonymous) -> exp.Expr:
        found = named.get(node.name.lower())
        if found is None:
            raise Refusal(
                f"nobody has proven that {node.name} means the same there",
                'say it with plainer functions, or write Spark SQL with dialect="spark"',
            )
        return found(node)

    return {exp.Anonymous: rule}
