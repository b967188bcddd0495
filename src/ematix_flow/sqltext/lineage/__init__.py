"""Column lineage of SQL, from its text alone."""

from ematix_flow.sqltext.lineage.columns import column_lineage

__all__ = ["column_lineage"]
