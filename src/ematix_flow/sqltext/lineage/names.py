"""When two names are one name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlglot.dialects.dialect import Dialect, NormalizationStrategy

from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.references import table_name

if TYPE_CHECKING:
    from sqlglot import exp

# Where quotes keep the case of a name; elsewhere columns are told apart without it.
_KEEP_QUOTED = (NormalizationStrategy.LOWERCASE, NormalizationStrategy.UPPERCASE)


class Names:
    """The names of a dialect, and the columns that are known of the tables."""

    def __init__(self, dialect: str, schema: Mapping[TableName, Sequence[str]]) -> None:
        strategy = Dialect.get_or_raise(dialect).normalization_strategy
        self._keeps_quoted = strategy in _KEEP_QUOTED
        self._upper = strategy is NormalizationStrategy.UPPERCASE
        self._schema = schema
        self._tables: dict[tuple[str, ...], tuple[TableName, tuple[str, ...] | None]] = {}

    def key(self, identifier: exp.Expr) -> str:
        """Return what an identifier is compared by."""
        name = identifier.name
        if self._keeps_quoted:
            if identifier.args.get("quoted"):
                return name
            return name.upper() if self._upper else name.lower()
        return name.lower()

    def column_key(self, name: str) -> str:
        """Return what a column's real name is compared by."""
        return name if self._keeps_quoted else name.lower()

    def table(self, node: exp.Table) -> tuple[TableName, tuple[str, ...] | None, tuple[str, ...]]:
        """Return a table's name, its columns if they are known, and the parts of its name."""
        path = tuple(self.key(part) for part in node.parts)
        if path not in self._tables:
            self._tables[path] = self._look_up(table_name(node))
        name, columns = self._tables[path]
        return name, columns, path

    def _look_up(self, name: TableName) -> tuple[TableName, tuple[str, ...] | None]:
        columns = self._schema.get(name)
        if columns is None:
            # By the name alone, if that is not ambiguous and the schemas do not disagree.
            alike = [each for each in self._schema if _alike(each, name)]
            columns = self._schema[alike[0]] if len(alike) == 1 else None
        return name, None if columns is None else tuple(columns)


def written(node: exp.Expr, dialect: str) -> str:
    """Return an expression as text, to name it to a person."""
    try:
        return node.sql(dialect=dialect)
    except Exception:  # noqa: BLE001  # sqlglot's generators fail in many ways on odd nodes
        return type(node).__name__.upper()


def _alike(known: TableName, written: TableName) -> bool:
    if known.name.casefold() != written.name.casefold():
        return False
    return (
        known.schema is None
        or written.schema is None
        or known.schema.casefold() == written.schema.casefold()
    )
