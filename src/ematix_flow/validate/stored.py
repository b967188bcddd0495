"""The values that are staged, where they are not simply those that were judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ematix_flow.spec.contract import Contract, Rule, RuleKind
from ematix_flow.spec.drifted import Drifted
from ematix_flow.spec.layout import DELETED
from ematix_flow.validate.drifted import held_value, misfits
from ematix_flow.validate.place import Fault

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

# What a staging table would refuse.
_REFUSED = (RuleKind.LENGTH, RuleKind.STORABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """The values as the target takes them.

    :param cast: Where each column's value of the declared type is.
    :param drifted: The columns that the target holds otherwise, and their types on Spark.
    """

    contract: Contract
    cast: Mapping[str, str]
    drifted: Mapping[str, tuple[Drifted, DataType]]

    @classmethod
    def of(cls, paired: DataFrame, contract: Contract, cast: Mapping[str, str]) -> Stored:
        """Return how the rows of *paired* are stored."""
        types = {
            each.column.name: (each, paired.schema[cast[each.column.name]].dataType)
            for each in contract.drifted
        }
        return cls(contract=contract, cast=cast, drifted=types)

    def fault(self, rule: Rule, raw: str) -> Fault:
        """Return when a row has a value that the target, as it is, cannot take."""
        from pyspark.sql import functions

        drifted, kind = self.drifted[rule.column]
        unfit = misfits(functions.col(self.cast[rule.column]), kind, drifted)
        return Fault(breaks=unfit, offending=functions.col(raw))

    def unfit(self) -> dict[str, Column]:
        """Return when a row loses its value, by column; where rows are let go, none does."""
        from pyspark.sql import functions

        return {
            name: misfits(functions.col(self.cast[name]), kind, drifted)
            for name, (drifted, kind) in self.drifted.items()
            if not drifted.discards_row
        }

    def value(self, name: str, faults: Mapping[Rule, Fault]) -> Column | None:
        """Return what is staged of a column; None where the target lacks it."""
        from pyspark.sql import functions

        value: Column | None = functions.col(self.cast[name])
        if name in self.drifted:
            drifted, kind = self.drifted[name]
            value = held_value(functions.col(self.cast[name]), kind, drifted)
        for rule, fault in faults.items():
            if rule.column != name or rule.kind not in _REFUSED or fault.breaks is None:
                continue
            if value is not None and not self.contract.holds_for_deletions(rule):
                # A deletion is not judged by it, but must be staged.
                unheld = functions.col(DELETED) & functions.coalesce(
                    fault.breaks, functions.lit(False)
                )
                value = functions.when(~unheld, value)
        return value
