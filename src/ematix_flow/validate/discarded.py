"""Counting the values that are let go, in the pass that is made anyway."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ematix_flow.spec.contract import Contract

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class DiscardedValues:
    """How many values of which columns were discarded, known once the rows are staged.

    Only for engines that can observe.
    """

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._observation: Any = None

    def counted(self, frame: DataFrame, unfit: Mapping[str, Column]) -> DataFrame:
        """Return *frame*, watched: *unfit* says when a row loses its value of a column."""
        from pyspark.sql import Observation, functions

        if not unfit:
            return frame
        self._observation = Observation()
        counts = (functions.count_if(each).alias(name) for name, each in unfit.items())
        return frame.observe(self._observation, *counts)

    def told(self) -> Iterator[str]:
        """Say what was discarded; call it after an action that saw at least one row."""
        if self._observation is None:
            return
        for name, count in self._observation.get.items():
            if count:
                values = "value" if count == 1 else "values"
                yield f"{count:,} {values} of {name} did not fit {self._contract.table.name}"
