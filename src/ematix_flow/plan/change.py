"""One difference between a table and its declaration, and all of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ematix_flow.spec.table import TableName


class ChangeKind(StrEnum):
    """What would have to happen to the table."""

    ADD = "add"
    DROP = "drop"
    WIDEN = "widen"
    NARROW = "narrow"
    RETYPE = "retype"
    NULLABLE = "nullable"
    NOT_NULL = "not_null"
    KEY = "key"
    RENAME = "rename"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference.

    :param column: Its name in the declaration; where it is not declared, in the table.
    :param sql: The statement that would remove the difference; None where there is none.
    :param destructive: Whether that statement may lose or refuse values that are there.
    :param fits: Whether every row that keeps to the declaration can be written as things are.
    """

    kind: ChangeKind
    column: str
    text: str
    fits: bool
    declared: str | None = None
    actual: str | None = None
    sql: str | None = None
    destructive: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaDiff:
    """All differences of one table: in the order of its columns, then drops, key, guesses."""

    table: TableName
    dialect: str
    changes: tuple[Change, ...]

    def of(self, *kinds: ChangeKind) -> tuple[Change, ...]:
        """Return the changes of these kinds."""
        return tuple(change for change in self.changes if change.kind in kinds)
