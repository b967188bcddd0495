"""Applying rules to a query, from its leaves to its root."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow._base.location import Location
from ematix_flow.errors import DialectError
from ematix_flow.sqltext.dialect import as_written
from ematix_flow.sqltext.translate.build import Rules
from ematix_flow.sqltext.translate.refusal import Refusal, fragment

_UNKNOWN = "nobody has proven that it means the same in {}"
_INSTEAD = 'say it with plainer functions, or write the query in {0} SQL with dialect="{0}"'


def apply(
    rules: Rules,
    query: exp.Query,
    *,
    read: str,
    write: str,
    where: Location | str,
    udfs: frozenset[str],
) -> exp.Query:
    """Return a copy of *query* in which every node went through its rule."""
    result = query.copy()
    for number, node in reversed(list(enumerate(result.walk()))):
        try:
            changed = _translated(node, rules, write, udfs)
        except Refusal as refusal:
            # A copy walks in the same order, so a node's number leads to what the user wrote.
            shown = fragment(list(query.walk())[number], as_written(query), read)
            raise DialectError.about(
                shown, refusal.why, refusal.rewrite, write=write, where=where
            ) from refusal
        if changed is not node:
            node.replace(changed)
    return result


def _translated(node: exp.Expr, rules: Rules, write: str, udfs: frozenset[str]) -> exp.Expr:
    if isinstance(node, exp.Anonymous) and node.name.lower() in udfs:
        return node
    rule = rules.get(type(node))
    if rule is not None:
        return rule(node)
    raise Refusal(_UNKNOWN.format(write), _INSTEAD.format(write))
