"""Asking for the verdict on rows that a `Selection` brought into a relation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN
from ematix_flow.sqltext.program.grammar import Grammar


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The queries over one such relation.

    :param judged: Whether its rows say which rule they break.
    """

    relation: str
    dialect: str
    judged: bool

    @property
    def counts(self) -> str:
        """The query for how many rows there are, and how many of them break a rule."""
        broken = f"count({self._grammar.name(RULE_COLUMN)})" if self.judged else "0"
        return f"SELECT count(*), {broken} FROM {self._grammar.name(self.relation)}"  # noqa: S608

    def samples(self, names: Iterable[str], most: int) -> str:
        """Return the query for rows that break one: these columns, the rule, its value."""
        wanted = self._grammar.names((*names, RULE_COLUMN, VALUE_COLUMN))
        is_broken = f"{self._grammar.name(RULE_COLUMN)} IS NOT NULL"
        rows = self._grammar.name(self.relation)
        return f"SELECT {wanted} FROM {rows} WHERE {is_broken} LIMIT {most}"  # noqa: S608  # quoted

    @property
    def _grammar(self) -> Grammar:
        return Grammar(self.dialect)
