"""A load whose source is the target's own database: its rows selected there, in SQL alone."""

from ematix_flow.sqltext.in_database.rows import Wanted
from ematix_flow.sqltext.in_database.selection import Selection, selection
from ematix_flow.sqltext.in_database.unproven import Unproven

__all__ = ["Selection", "Unproven", "Wanted", "selection"]
