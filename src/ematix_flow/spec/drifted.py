"""A column that is not in the target as it is declared, and whose misfits are let go."""

from __future__ import annotations

from dataclasses import dataclass

from ematix_flow.spec.table import Column
from ematix_flow.spec.types import DataType


@dataclass(frozen=True, slots=True, kw_only=True)
class Drifted:
    """One such column.

    :param column: As it is declared.
    :param held: The type that it has in the target; None where the target lacks it.
    :param takes_null: Whether the target takes NULL there.
    :param discards_row: Whether a row whose value does not fit is let go, not only the value.
    """

    column: Column
    held: DataType | None
    takes_null: bool = True
    discards_row: bool = False

    def __str__(self) -> str:
        what = "rows with" if self.discards_row else ""
        name, kind = self.column.name, self.column.type
        if self.held is None:
            return f"{what} a value in {name}, which the table lacks".strip()
        if self.held == kind:
            return f"{what} NULL in {name}, which the table does not take".strip()
        return f"{what} a {name} that is no {self.held}, as the table has it".strip()
