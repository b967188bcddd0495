"""What kinds of files have in common: Spark runs the queries over them; none is a target yet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ematix_flow.errors import NotSupported
from ematix_flow.ports import ActualColumn, Target
from ematix_flow.spec.capability import Capabilities

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class FileBackend:
    """A kind of file: a source, and no target yet."""

    capabilities: Capabilities

    def target(self, connection: object) -> Target:
        """Refuse: `plan` never lets a run come here."""
        del connection
        raise NotSupported(f"{self.capabilities.kind} cannot be written yet")


class FileReader:
    """Reads whole relations; a query over them is Spark's to run."""

    __slots__ = ()

    kind: ClassVar[str]

    def describe(self, query: str) -> tuple[ActualColumn, ...]:
        """Refuse: queries over files run on Spark."""
        del query
        raise NotSupported(f"{self.kind} files cannot analyse a query: Spark runs it")

    def read_query(self, spark: SparkSession, query: str, scratch: Path) -> DataFrame:
        """Refuse: queries over files run on Spark."""
        del spark, query, scratch
        raise NotSupported(f"{self.kind} files cannot run a query")
