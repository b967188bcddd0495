"""Whose SQL grammar a dialect of ours is written in.

`mariadb` is the dialect of a target alone: queries over MariaDB are written in `mysql`, as its
connections are of that kind.
"""

from __future__ import annotations

# One language, but not one set of types: no collation of theirs that is exact has one name.
_MYSQL_FAMILY = ("mysql", "mariadb")


def grammar_of(dialect: str) -> str:
    """Return the name sqlglot knows: Delta and Iceberg tables are spoken to in Spark's SQL."""
    if dialect in ("delta", "iceberg"):
        return "spark"
    return "mysql" if is_mysql(dialect) else dialect


def is_mysql(dialect: str) -> bool:
    """Tell whether *dialect* is MySQL's or MariaDB's."""
    return dialect in _MYSQL_FAMILY
