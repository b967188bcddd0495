"""Whose SQL grammar a dialect of ours is written in."""

from __future__ import annotations


def grammar_of(dialect: str) -> str:
    """Return the name sqlglot knows: Delta and Iceberg tables are spoken to in Spark's SQL."""
    return "spark" if dialect in ("delta", "iceberg") else dialect
