"""The statements about both tables, in one dialect."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, cached_property

from ematix_flow.spec.table import Table
from ematix_flow.sqltext.alter import add_column
from ematix_flow.sqltext.bookkeeping.fence import FENCE, FenceSql
from ematix_flow.sqltext.bookkeeping.ledger import LEDGER, LedgerSql
from ematix_flow.sqltext.ddl import create_table
from ematix_flow.sqltext.type_names import type_name


@cache
def bookkeeping(dialect: str) -> Bookkeeping:
    """Return the statements of *dialect*, built once."""
    return Bookkeeping(dialect)


class Bookkeeping(LedgerSql, FenceSql):
    """What the ledger and the fence are asked, and how they come to be there."""

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
