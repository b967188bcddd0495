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
        name = self.column.name
        if self.held is None:
            lost, why = "a value", f"the table lacks {name}"
        elif self.held == self.column.type:
            lost, why = "NULL", f"the table takes no NULL in {name}"
        else:
            lost, why = f"a value that is no {self.held}", f"the table has {name} as {self.held}"
        if self.discards_row:
            return f"{name}: rows with {lost} are set aside ({why})"
        return f"{name}: {'its value' if self.held is None else lost} is discarded ({why})"
