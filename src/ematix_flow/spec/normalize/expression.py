"""Markers in the user's own SQL. What they say is read in `sqltext/markers/expression.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ematix_flow.spec.normalize.family import EVERY, Family
from ematix_flow.spec.normalize.marker import Marker, refuse


@dataclass(frozen=True, slots=True)
class Expression(Marker):
    """A scalar expression of Spark SQL over the columns of the row."""

    text: str

    def gives(self, families: frozenset[Family]) -> frozenset[Family]:
        """Anything: only the engine knows."""
        del families
        return EVERY

    @property
    def converts(self) -> bool:
        """It may."""
        return True


@dataclass(frozen=True, slots=True)
class Sql(Expression):
    """What `sql()` makes."""

    called: ClassVar[str] = "sql"


@dataclass(frozen=True, slots=True)
class Derive(Expression):
    """What `derive()` makes."""

    called: ClassVar[str] = "derive"


def derives(markers: tuple[Marker, ...]) -> bool:
    """Tell whether markers compute their column, so that the query does not return it."""
    return bool(markers) and isinstance(markers[0], Derive)


def sql(expression: str) -> Marker:
    """Put the value through an expression of Spark SQL; `{}` or the column's name is the value."""
    _require_text("sql", expression)
    return Sql(expression)


def derive(expression: str) -> Marker:
    """Compute the column from others of the row; the query does not return it."""
    _require_text("derive", expression)
    return Derive(expression)


def _require_text(marker: str, expression: object) -> None:
    if not isinstance(expression, str) or not expression.strip():
        refuse(
            f"{marker} takes an expression of Spark SQL as text, not {expression!r}",
            hint="sql(\"concat({}, '!')\")" if marker == "sql" else 'derive("price * quantity")',
        )
