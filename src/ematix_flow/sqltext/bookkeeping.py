"""The SQL of our two small tables on each target: the ledger and the fence.

They live beside the data because only there can they change in the same transaction.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, cached_property

from sqlglot import exp

from ematix_flow._base.location import Location
from ematix_flow.spec.counts import RowCounts
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import BigInt, Text
from ematix_flow.sqltext.alter import add_column
from ematix_flow.sqltext.ddl import create_table
from ematix_flow.sqltext.dialect_names import grammar_of
from ematix_flow.sqltext.identifiers import column, table
from ematix_flow.sqltext.type_names import type_name

_OURS = Location(__file__, 1)
_MYSQL = ("mysql", "mariadb")


def _counted(name: str) -> str:
    return f"rows_{name}"


# The first ledgers knew two counts only; NULL in the others means that nobody counted.
_LATER_COUNTS = tuple(name for name in RowCounts.names() if name not in ("inserted", "deleted"))

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
        *(Column(name=_counted(name), type=BigInt(), nullable=True) for name in _LATER_COUNTS),
    ),
)

# Times are milliseconds of the database's own clock: two machines disagree about theirs.
FENCE = Table(
    name=TableName(name="_flow_fence"),
    location=_OURS,
    columns=(
        Column(name="pipeline", type=Text(), primary_key=True),
        Column(name="token", type=BigInt()),
        Column(name="holder", type=Text(), nullable=True),
        Column(name="run_id", type=Text(), nullable=True),
        Column(name="held_since", type=BigInt(), nullable=True),
        Column(name="lease_until", type=BigInt(), nullable=True),
    ),
)

# The databases that several machines reach; elsewhere a lock of the operating system is the lease.
_CLOCKS = {
    "postgres": "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
    "mysql": "(UNIX_TIMESTAMP() * 1000)",
    "mariadb": "(UNIX_TIMESTAMP() * 1000)",
}


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

    def add_missing(self, declared: Table, found: Collection[str]) -> tuple[str, ...]:
        """Add the columns that a table of an earlier version lacks."""
        return tuple(
            add_column(declared.name, each.name, type_name(each.type, self.dialect), self.dialect)
            for each in declared.columns
            if each.name not in found
        )

    # The ledger --------------------------------------------------------------------------------

    @property
    def later_counts(self) -> tuple[str, ...]:
        """The counts that `insert_ledger` takes last, in order."""
        return _LATER_COUNTS

    @cache  # noqa: B019  # one object per dialect, kept for good
    def read_run(self, known: frozenset[str]) -> str:
        """Parameters: pipeline, target, run_id. Columns: as in `_entries`.

        :param known: The columns that the ledger has.
        """
        return self._sql(self._entries(known).where(_is("run_id")))

    @cache  # noqa: B019  # one object per dialect, kept for good
    def read_last(self, known: frozenset[str]) -> str:
        """Parameters: pipeline, target. Columns as `read_run`, of the last commit."""
        return self._sql(self._entries(known).order_by(column("committed_at").desc()).limit(1))

    @cached_property
    def prune_ledger(self) -> str:
        """Parameters: pipeline, target, committed_at: forget what is older."""
        older = exp.LT(this=column("committed_at"), expression=exp.Placeholder())
        where = exp.and_(_is("pipeline"), _is("target"), older)
        return self._sql(exp.delete(table(LEDGER.name), where=where))

    @cached_property
    def insert_ledger(self) -> str:
        """Parameters: every column of the ledger, in order."""
        return self._insert(LEDGER, LEDGER.column_names)

    # The fence ---------------------------------------------------------------------------------

    @property
    def has_clock(self) -> bool:
        """Whether it is a server that gives leases by its own clock."""
        return self.dialect in _CLOCKS

    @cached_property
    def read_fence(self) -> str:
        """Parameters: pipeline. Columns: token."""
        query = exp.select(column("token")).from_(table(FENCE.name)).where(_is("pipeline"))
        return self._sql(query)

    @cached_property
    def read_lease(self) -> str:
        """Parameters: pipeline. Columns: token, holder, run_id, held_since, lease_until, now."""
        names = ("token", "holder", "run_id", "held_since", "lease_until")
        query = exp.select(*(column(name) for name in names), exp.alias_(self._now, "now"))
        return self._sql(query.from_(table(FENCE.name)).where(_is("pipeline")))

    @cached_property
    def insert_fence(self) -> str:
        """Parameters: pipeline, token. Does nothing where the pipeline has a fence."""
        return self._insert(FENCE, ("pipeline", "token"), unless_there=True)

    @cached_property
    def raise_fence(self) -> str:
        """Parameters: pipeline."""
        return self._update({"token": _next_token()}, _is("pipeline"))

    @cached_property
    def take_lease(self) -> str:
        """Parameters: holder, run_id, milliseconds, pipeline, holder.

        Changes one row where the lease is free, over, or that holder's.
        """
        until = column("lease_until")
        over = exp.LTE(this=until, expression=self._now)
        free = exp.paren(exp.or_(until.is_(exp.null()), over, _is("holder")))
        taken = {
            "token": _next_token(),
            "holder": exp.Placeholder(),
            "run_id": exp.Placeholder(),
            "held_since": self._now,
            "lease_until": self._later,
        }
        return self._update(taken, exp.and_(_is("pipeline"), free))

    @cached_property
    def renew_lease(self) -> str:
        """Parameters: milliseconds, pipeline, token. Changes one row while the token is that."""
        return self._update({"lease_until": self._later}, _held())

    @cached_property
    def release_lease(self) -> str:
        """Parameters: pipeline, token."""
        names = ("holder", "run_id", "held_since", "lease_until")
        return self._update(dict.fromkeys(names, exp.null()), _held())

    @cached_property
    def hold_fence(self) -> str:
        """Parameters: pipeline, token. Finds one row while the token is still that one.

        It locks the row (or conflicts) until the transaction ends.
        """
        if self.dialect in _MYSQL:
            # MySQL does not count a row that an UPDATE leaves as it was.
            return self._sql(self._held_token().lock())
        return self._update({"token": column("token")}, _held())

    @property
    def holds_by_reading(self) -> bool:
        """Whether `hold_fence` is a query."""
        return self.dialect in _MYSQL

    # How they are put together -------------------------------------------------------------------

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
            .where(_is("pipeline"), _is("target"), _is("generation", exp.Literal.number(0)))
        )

    def _held_token(self) -> exp.Select:
        return exp.select(column("token")).from_(table(FENCE.name)).where(_held())

    @property
    def _now(self) -> exp.Expression:
        return exp.var(_CLOCKS[self.dialect])

    @property
    def _later(self) -> exp.Expression:
        return exp.Add(this=self._now, expression=exp.Placeholder())

    def _update(self, values: dict[str, exp.Expression], where: exp.Condition) -> str:
        update = exp.Update(
            this=table(FENCE.name),
            expressions=[
                exp.EQ(this=column(name), expression=value) for name, value in values.items()
            ],
            where=exp.Where(this=where),
        )
        return self._sql(update)

    def _insert(self, into: Table, names: tuple[str, ...], *, unless_there: bool = False) -> str:
        listed = [exp.to_identifier(name, quoted=True) for name in names]
        row = exp.Tuple(expressions=[exp.Placeholder() for _ in names])
        ignores = unless_there and self.dialect in _MYSQL
        conflict = exp.OnConflict(action=exp.var("DO NOTHING"))
        insert = exp.Insert(
            this=exp.Schema(this=table(into.name), expressions=listed),
            expression=exp.Values(expressions=[row]),
            ignore=ignores,
            conflict=conflict if unless_there and not ignores else None,
        )
        return self._sql(insert)

    def _sql(self, expression: exp.Expression) -> str:
        return expression.sql(dialect=grammar_of(self.dialect))


def _is(name: str, value: exp.Expression | None = None) -> exp.EQ:
    return exp.EQ(this=column(name), expression=value or exp.Placeholder())


def _held() -> exp.Condition:
    return exp.and_(_is("pipeline"), _is("token"))


def _next_token() -> exp.Expression:
    return exp.Add(this=column("token"), expression=exp.Literal.number(1))
