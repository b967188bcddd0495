"""The fence: a token and a lease for each pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from ematix_flow._base.location import Location
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import BigInt, Text
from ematix_flow.sqltext.bookkeeping.statements import Statements, equals
from ematix_flow.sqltext.dialect_names import grammar_of
from ematix_flow.sqltext.identifiers import column, table

# Times are milliseconds of the database's own clock: two machines disagree about theirs.
FENCE = Table(
    name=TableName(name="_flow_fence"),
    location=Location(__file__, 1),
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
}


@dataclass(frozen=True)
class FenceSql(Statements):
    """What the fence is asked."""

    @property
    def has_clock(self) -> bool:
        """Whether it is a server that gives leases by its own clock."""
        return grammar_of(self.dialect) in _CLOCKS

    @cached_property
    def read_fence(self) -> str:
        """Parameters: pipeline. Columns: token."""
        query = exp.select(column("token")).from_(table(FENCE.name)).where(equals("pipeline"))
        return self._sql(query)

    @cached_property
    def read_lease(self) -> str:
        """Parameters: pipeline. Columns: token, holder, run_id, held_since, lease_until, now."""
        names = ("token", "holder", "run_id", "held_since", "lease_until")
        query = exp.select(*(column(name) for name in names), exp.alias_(self._now, "now"))
        return self._sql(query.from_(table(FENCE.name)).where(equals("pipeline")))

    @cached_property
    def insert_fence(self) -> str:
        """Parameters: pipeline, token. Does nothing where the pipeline has a fence."""
        return self._insert(FENCE, ("pipeline", "token"), unless_there=True)

    @cached_property
    def raise_fence(self) -> str:
        """Parameters: pipeline."""
        return self._update(FENCE, {"token": _next_token()}, equals("pipeline"))

    @cached_property
    def take_lease(self) -> str:
        """Parameters: holder, run_id, milliseconds, pipeline, holder.

        Changes one row where the lease is free, over, or that holder's.
        """
        until = column("lease_until")
        over = exp.LTE(this=until, expression=self._now)
        free = exp.paren(exp.or_(until.is_(exp.null()), over, equals("holder")))
        taken = {
            "token": _next_token(),
            "holder": exp.Placeholder(),
            "run_id": exp.Placeholder(),
            "held_since": self._now,
            "lease_until": self._later,
        }
        return self._update(FENCE, taken, exp.and_(equals("pipeline"), free))

    @cached_property
    def renew_lease(self) -> str:
        """Parameters: milliseconds, pipeline, token. Finds one row while the token is that."""
        return self._update(FENCE, {"lease_until": self._later}, _held())

    @cached_property
    def release_lease(self) -> str:
        """Parameters: pipeline, token."""
        names = ("holder", "run_id", "held_since", "lease_until")
        return self._update(FENCE, dict.fromkeys(names, exp.null()), _held())

    @cached_property
    def hold_fence(self) -> str:
        """Parameters: pipeline, token. Finds one row while the token is still that one.

        It locks the row (or conflicts) until the transaction ends.
        """
        return self._update(FENCE, {"token": column("token")}, _held())

    @property
    def _now(self) -> exp.Expression:
        return exp.var(_CLOCKS[grammar_of(self.dialect)])

    @property
    def _later(self) -> exp.Expression:
        return exp.Add(this=self._now, expression=exp.Placeholder())


def _held() -> exp.Condition:
    return exp.and_(equals("pipeline"), equals("token"))


def _next_token() -> exp.Expression:
    return exp.Add(this=column("token"), expression=exp.Literal.number(1))
