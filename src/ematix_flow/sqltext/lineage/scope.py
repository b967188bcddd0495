"""What the names in one SELECT can mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.lineage.relation import Output, Relation
from ematix_flow.sqltext.lineage.trace import Trace, computed, merged, unknown

if TYPE_CHECKING:
    from sqlglot import exp

Aliases = Literal["first", "before_unknown", "lateral", "last"]
"""Where the aliases of the select list stand among the meanings of a name.

Before columns in ORDER BY. In GROUP BY and its like after the columns that are known, before
those that only may be there; the same in the select list itself of a dialect that has lateral
aliases, where the choice is a guess. Else after all columns.
"""

Name = tuple[str, str]
"""A name as written, and its key."""


@dataclass(slots=True)
class Scope:
    """The relations of one SELECT, and the scope that a correlated subquery looks out into."""

    parent: Scope | None
    ctes: dict[str, Relation]
    relations: dict[str, Relation] = field(default_factory=dict)
    shared: dict[str, Trace] = field(default_factory=dict)  # joined by USING or NATURAL
    aliases: dict[str, Trace] = field(default_factory=dict)
    windows: dict[str, exp.Expr] = field(default_factory=dict)

    @property
    def tables(self) -> tuple[TableName, ...]:
        """The tables whose rows this SELECT works on."""
        return tuple(
            dict.fromkeys(table for each in self.relations.values() for table in each.tables)
        )

    def add(self, relation: Relation) -> None:
        """Put a relation into the FROM; one without an alias gets a key that no name can have."""
        key = relation.alias or f" {len(self.relations)}"
        self.relations[key] = relation

    def outputs(self) -> tuple[Output, ...]:
        """Return what `*` means: a column that a join shares once, semi-joined tables not."""
        columns: list[Output] = []
        given: set[str] = set()
        for relation in self.relations.values():
            for output in relation.outputs if relation.shown else ():
                shared = self.shared.get(output.key)
                if shared is None:
                    columns.append(output)
                elif output.key not in given:
                    given.add(output.key)
                    columns.append(Output(name=output.name, key=output.key, trace=shared))
        return tuple(columns)

    def rows(self, outputs: Sequence[Output]) -> Relation:
        """Return this SELECT's rows with the columns it gives them."""
        return Relation(alias="", outputs=tuple(outputs), tables=self.tables)

    def resolve(self, parts: Sequence[Name], aliases: Aliases) -> Trace:
        """Return the trace of a column by its parts: `a`, `t.a`, `s.t.a`, `t.a.field`."""
        (name, key), *fields = parts
        if aliases == "first" and not fields and key in self.aliases:
            return self.aliases[key]
        found, used = self._qualified(parts)
        if found is None:
            found, used = self._unqualified(name, key, aliases), 1
        if found is None:
            found = self.aliases.get(key) or (None if fields else self._whole_row(key))
        if found is None:
            known = ", ".join(str(each) for each in self.tables)
            return unknown(f"no column {'.'.join(part for part, _ in parts)} in ({known})")
        # What is left of the parts are fields of a struct.
        return found if used == len(parts) else computed((found,), aggregate=False)

    def _qualified(self, parts: Sequence[Name]) -> tuple[Trace | None, int]:
        keys = tuple(key for _, key in parts)
        scope: Scope | None = self
        while scope is not None and len(parts) > 1:
            relation = scope.relations.get(keys[0])
            if relation and (found := relation.find(*parts[1])):
                return found, 2
            for relation in scope.relations.values():
                for length in range(2, min(len(keys), len(relation.path) + 1)):
                    if relation.path[-length:] == keys[:length]:
                        return relation.find(*parts[length]), length + 1
            scope = scope.parent
        return None, 0

    def _unqualified(self, name: str, key: str, aliases: Aliases) -> Trace | None:
        if certain := self._certain(name, key):
            return certain
        alias = self.aliases.get(key) if aliases != "last" else None
        possible = self._possible(name, key)
        if possible is None:
            return alias or (self.parent._unqualified(name, key, "last") if self.parent else None)
        if alias:
            sure = aliases != "lateral" or alias.sources == possible.sources
            gap = f"{name} is an alias, or a column of a table whose columns are not known"
            return alias if sure else alias.with_gaps((gap,))
        outer = self.parent._certain_anywhere(name, key) if self.parent else None
        if outer and outer.sources != possible.sources:
            gap = f"{name} is a column of the subquery's tables or of the query around it"
            return possible.with_gaps((gap,))
        return possible

    def _certain(self, name: str, key: str) -> Trace | None:
        if key in self.shared:
            return self.shared[key]
        found = [trace for each in self._shown() if (trace := each.certain(key)) is not None]
        if len(found) > 1 and any(each != found[0] for each in found):
            return merged(found).with_gaps((f"{name} is a column of more than one table",))
        if found:
            return found[0]
        hidden = (each.certain(key) for each in self.relations.values() if not each.shown)
        return next(filter(None, hidden), None)

    def _certain_anywhere(self, name: str, key: str) -> Trace | None:
        outer = self.parent._certain_anywhere(name, key) if self.parent else None
        return self._certain(name, key) or outer

    def _possible(self, name: str, key: str) -> Trace | None:
        relations = self._shown()
        functions = [each for each in relations if each.any_column]
        for function in functions:
            if function.alias == key:
                return function.any_column
        found = [trace for each in relations if (trace := each.possible(name, key)) is not None]
        found += [each.any_column for each in functions if each.any_column]
        if len(found) <= 1:
            return found[0] if found else None
        tables = sorted({str(table) for each in relations for table in each.tables})
        may = " or ".join((*tables, *("a table function" for _ in functions)))
        return unknown(f"{name} is a column of {may}: their columns are not known")

    def _shown(self) -> list[Relation]:
        return [each for each in self.relations.values() if each.shown]

    def _whole_row(self, key: str) -> Trace | None:
        """Return a relation's name used as a value: all of its columns."""
        relation = self.relations.get(key)
        if relation is None:
            return self.parent._whole_row(key) if self.parent else None
        columns = [output.trace for output in relation.outputs]
        return merged((*columns, *filter(None, (relation.any_column,))), "expression")
