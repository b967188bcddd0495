"""Rows that will arrive in a table which is not there yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ematix_flow.ports import ActualColumn
from ematix_flow.sqltext.dialect_names import grammar_of
from ematix_flow.sqltext.identifiers import quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Arriving:
    """The relation that will hold them, with the columns that it will have."""

    relation: str
    columns: Sequence[ActualColumn]
    dialect: str

    @property
    def query(self) -> str:
        """The query for all of them."""
        return f"SELECT * FROM {self._name(self.relation)}"  # noqa: S608  # quoted

    def describing(self, query: str) -> str:
        """Return *query* so that its columns can be asked for now: a row of NULLs stands in."""
        listed = ", ".join(
            f"CAST(NULL AS {each.type}) AS {self._name(each.name)}" for each in self.columns
        )
        return f"WITH {self._name(self.relation)} AS (SELECT {listed}) {query}"

    def _name(self, name: str) -> str:
        return quoted(name, grammar_of(self.dialect))
