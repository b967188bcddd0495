"""How the statements are put together, with `?`-style parameters in the order of the names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from ematix_flow.spec.table import Table
from ematix_flow.sqltext.dialect_names import grammar_of, is_mysql
from ematix_flow.sqltext.identifiers import column, table


@dataclass(frozen=True)
class Statements:
    """Those of one dialect."""

    dialect: str

    def _sql(self, expression: exp.Expression) -> str:
        return expression.sql(dialect=grammar_of(self.dialect))

    def _update(
        self, changed: Table, values: Mapping[str, exp.Expression], where: exp.Condition
    ) -> str:
        setting = [exp.EQ(this=column(name), expression=value) for name, value in values.items()]
        update = exp.Update(
            this=table(changed.name), expressions=setting, where=exp.Where(this=where)
        )
        return self._sql(update)

    def _insert(self, into: Table, names: Sequence[str], *, unless_there: bool = False) -> str:
        listed = [exp.to_identifier(name, quoted=True) for name in names]
        row = exp.Tuple(expressions=[exp.Placeholder() for _ in names])
        ignores = unless_there and is_mysql(self.dialect)
        conflict = exp.OnConflict(action=exp.var("DO NOTHING"))
        insert = exp.Insert(
            this=exp.Schema(this=table(into.name), expressions=listed),
            expression=exp.Values(expressions=[row]),
            ignore=ignores,
            conflict=conflict if unless_there and not ignores else None,
        )
        return self._sql(insert)


def equals(name: str, value: exp.Expression | None = None) -> exp.EQ:
    """Say that a column has a value: the next parameter, unless it is given."""
    return exp.EQ(this=column(name), expression=value or exp.Placeholder())
