"""The SQL of our two small tables on each target: the ledger and the fence.

They live beside the data because only there can they change in the same transaction.
"""

from ematix_flow.sqltext.bookkeeping.fence import FENCE, FenceSql
from ematix_flow.sqltext.bookkeeping.ledger import LEDGER, LedgerSql
from ematix_flow.sqltext.bookkeeping.own_tables import Bookkeeping, bookkeeping

__all__ = ["FENCE", "LEDGER", "Bookkeeping", "FenceSql", "LedgerSql", "bookkeeping"]
