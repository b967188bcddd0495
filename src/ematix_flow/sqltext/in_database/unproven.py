"""What a database is not known to do as Spark does."""

from __future__ import annotations


class Unproven(Exception):
    """Rows have to go through Spark; the text says why."""
