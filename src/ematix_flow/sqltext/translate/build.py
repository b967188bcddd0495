"""Small nodes that rules are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sqlglot import exp

from ematix_flow.sqltext.translate.kinds import GIVEN, Kind
from ematix_flow.sqltext.translate.refusal import Refusal

# A rule gets a node whose children are already translated, and returns what stands in its place.
Rule = Callable[[Any], exp.Expr]
Rules = Mapping[type[exp.Expr], Rule]


def same(node: exp.Expr) -> exp.Expr:
    """Keep the node: it means the same on both sides (or sqlglot's rendering of it does)."""
    return node


def refused(why: str, rewrite: str) -> Rule:
    """Return a rule that always refuses."""

    def rule(_: exp.Expr) -> exp.Expr:
        raise Refusal(why, rewrite)

    return rule


def all_same(*kinds: type[exp.Expr]) -> dict[type[exp.Expr], Rule]:
    """Return rules that keep each of these."""
    return dict.fromkeys(kinds, same)


def call(name: str, *arguments: exp.Expr | None, kind: Kind | None = None) -> exp.Anonymous:
    """Return a call by name, which sqlglot renders as it is."""
    node = exp.Anonymous(
        this=name, expressions=[each.copy() for each in arguments if each is not None]
    )
    if kind is not None:
        node.meta[GIVEN] = kind
    return node


def string(value: str) -> exp.Literal:
    """Return a text literal."""
    return exp.Literal.string(value)


def number(value: int) -> exp.Expr:
    """Return an integer literal."""
    return exp.Literal.number(value)


def cast(node: exp.Expr, to: str) -> exp.Cast:
    """Return CAST(node AS to), *to* being a type of sqlglot's own naming."""
    return exp.cast(node.copy(), to, copy=False)


def type_is(node: exp.Expr, names: Iterable[str]) -> exp.Expr:
    """Return a test of a value's type on Spark, which folds it away when it plans."""
    listed = [string(name) for name in names]
    return exp.In(this=call("TYPEOF", node), expressions=listed)


def unless(bad: exp.Expr, message: str, value: exp.Expr) -> exp.Expr:
    """Return *value*, or an error while the query runs where *bad* holds."""
    return call("IF", bad, call("RAISE_ERROR", string(message)), value)
