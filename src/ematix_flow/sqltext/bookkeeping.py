"""The SQL of our two small tables on each target: the ledger and the fence.

They live beside the data because only there can they change in the same transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

from sqlglot import exp

from ematix_flow._base.location import Location
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import BigInt, Text
from ematix_flow.sqltext.ddl import create_table
from ematix_flow.sqltext.identifiers import column, table

_OURS = Location(__file__, 1)

LEDGER = Table(
    name=TableName(name="_flow_ledger"),
    location=_OURS,
    columns=(
        Column(name="pipeline", type=Text(), primary_key=True),
        Column(name="target", type=Text(), primary_key=True),
        Column(name="generation", type=BigInt(), primary_key=True),
        Column(name="run_id", type=Text(), primary_key=True),
        Column(name="epoch", type=BigInt()),
        Column(name="window_start", type=Text(), nullable=True),
        Column(name="window_end", type=Text(), nullable=True),
        Column(name="watermark", type=Text(), nullable=True),
        Column(name="rows_inserted", type=BigInt()),
        Column(name="rows_deleted", type=BigInt()),
        Column(name="committed_at", type=Text()),
    ),
)

FENCE = Table(
    name=TableName(name="_flow_fence"),
    location=_OURS,
    columns=(
        Column(name="pipeline", type=Text(), primary_key=True),
        Column(name="token", type=BigInt()),
    ),
)


@cache
def bookkeeping(dialect: str) -> Bookkeeping:
    """Return the statements of *dialect*, built once."""
    return Bookkeeping(dialect)


@dataclass(frozen=True)
class Bookkeeping:
    """The statements, in one dialect, with `?`-style parameters in the order of the names."""

    dialect: str

    @cached_property
    def create(self) -> tuple[str, ...]:
        """Create both tables where they are missing."""
        return tuple(create_table(each, each.name, self.dialect) for each in (LEDGER, FENCE))

    @cached_property
    def read_run(self) -> str:
        """Parameters: pipeline, target, run_id. Columns: as in `_entries`."""
        return self._entries().where(_is("run_id")).sql(dialect=self.dialect)

    @cached_property
    def read_last(self) -> str:
        """Parameters: pipeline, target. Columns as `read_run`, of the last commit."""
        newest = self._entries().order_by(column("committed_at").desc()).limit(1)
        return newest.sql(dialect=self.dialect)

    @cached_property
    def prune_ledger(self) -> str:
        """Parameters: pipeline, target, committed_at: forget what is older."""
        older = exp.LT(this=column("committed_at"), expression=exp.Placeholder())
        where = exp.and_(_is("pipeline"), _is("target"), older)
        return exp.delete(table(LEDGER.name), where=where).sql(dialect=self.dialect)

    @cached_property
    def insert_ledger(self) -> str:
        """Parameters: every column of the ledger, in order."""
        return self._insert(LEDGER)

    @cached_property
    def read_fence(self) -> str:
        """Parameters: pipeline. Columns: token."""
        query = exp.select(column("token")).from_(table(FENCE.name)).where(_is("pipeline"))
        return query.sql(dialect=self.dialect)

    @cached_property
    def raise_fence(self) -> str:
        """Parameters: pipeline."""
        raised = exp.Add(this=column("token"), expression=exp.Literal.number(1))
        update = exp.Update(
            this=table(FENCE.name),
            expressions=[exp.EQ(this=column("token"), expression=raised)],
            where=exp.Where(this=_is("pipeline")),
        )
        return update.sql(dialect=self.dialect)

    @cached_property
    def hold_fence(self) -> str:
        """Parameters: pipeline, token. Changes one row while the token is still that one."""
        update = exp.Update(
            this=table(FENCE.name),
            expressions=[exp.EQ(this=column("token"), expression=column("token"))],
            where=exp.Where(this=exp.and_(_is("pipeline"), _is("token"))),
        )
        return update.sql(dialect=self.dialect)

    @cached_property
    def insert_fence(self) -> str:
        """Parameters: pipeline, token. Does nothing where the pipeline has a fence."""
        return self._insert(FENCE, exp.OnConflict(action=exp.var("DO NOTHING")))

    def _entries(self) -> exp.Select:
        names = ("run_id", "committed_at", "rows_inserted", "rows_deleted", "watermark")
        return (
            exp.select(*(column(name) for name in names))
            .from_(table(LEDGER.name))
            .where(_is("pipeline"), _is("target"), _is("generation", exp.Literal.number(0)))
        )

    def _insert(self, into: Table, conflict: exp.OnConflict | None = None) -> str:
        names = [exp.to_identifier(each.name, quoted=True) for each in into.columns]
        row = exp.Tuple(expressions=[exp.Placeholder() for _ in into.columns])
        insert = exp.Insert(
            this=exp.Schema(this=table(into.name), expressions=names),
            expression=exp.Values(expressions=[row]),
            conflict=conflict,
        )
        return insert.sql(dialect=self.dialect)


def _is(name: str, value: exp.Expression | None = None) -> exp.EQ:
    return exp.EQ(this=column(name), expression=value or exp.Placeholder())
