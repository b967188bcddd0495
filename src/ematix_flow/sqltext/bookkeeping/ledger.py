"""The ledger: a row for each run that was committed to a target."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

from sqlglot import exp

from ematix_flow._base.location import Location
from ematix_flow.spec.counts import RowCounts
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import BigInt, Text
from ematix_flow.sqltext.bookkeeping.statements import Statements, equals
from ematix_flow.sqltext.identifiers import column, table


def _counted(name: str) -> str:
    return f"rows_{name}"


# The first ledgers knew two counts only; NULL in the others means that nobody counted.
_LATER_COUNTS = tuple(name for name in RowCounts.names() if name not in ("inserted", "deleted"))

LEDGER = Table(
    name=TableName(name="_flow_ledger"),
    location=Location(__file__, 1),
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
        *(Column(name=_counted(name), type=BigInt(), nullable=True) for name in _LATER_COUNTS),
    ),
)


@dataclass(frozen=True)
class LedgerSql(Statements):
    """What the ledger is asked."""

    @property
    def later_counts(self) -> tuple[str, ...]:
        """The counts that `insert_ledger` takes last, in order."""
        return _LATER_COUNTS

    @cache  # noqa: B019  # one object per dialect, kept for good
    def read_run(self, known: frozenset[str]) -> str:
        """Parameters: pipeline, target, run_id. Columns: as in `_entries`.

        :param known: The columns that the ledger has.
        """
        return self._sql(self._entries(known).where(equals("run_id")))

    @cache  # noqa: B019  # one object per dialect, kept for good
    def read_last(self, known: frozenset[str]) -> str:
        """Parameters: pipeline, target. Columns as `read_run`, of the last commit."""
        return self._sql(self._entries(known).order_by(column("committed_at").desc()).limit(1))

    @cached_property
    def prune_ledger(self) -> str:
        """Parameters: pipeline, target, committed_at: forget what is older."""
        older = exp.LT(this=column("committed_at"), expression=exp.Placeholder())
        where = exp.and_(equals("pipeline"), equals("target"), older)
        return self._sql(exp.delete(table(LEDGER.name), where=where))

    @cached_property
    def insert_ledger(self) -> str:
        """Parameters: every column of the ledger, in order."""
        return self._insert(LEDGER, LEDGER.column_names)

    def _entries(self, known: frozenset[str]) -> exp.Select:
        names = ("run_id", "committed_at", "window_start", "window_end", "watermark")
        counts = tuple(_counted(name) for name in RowCounts.names())
        return (
            exp.select(
                *(
                    column(name) if name in known else exp.alias_(exp.null(), name, quoted=True)
                    for name in (*names, *counts)
                )
            )
            .from_(table(LEDGER.name))
            .where(
                equals("pipeline"), equals("target"), equals("generation", exp.Literal.number(0))
            )
        )
