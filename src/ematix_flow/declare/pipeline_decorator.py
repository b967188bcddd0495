"""`ematix.pipeline`: a decorator, and beside it `.sync(...)` for a load that is not declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Never, ParamSpec, TypeVar, Unpack

from ematix_flow.declare import pipelines
from ematix_flow.declare.handles import DeclaredPipeline
from ematix_flow.declare.keywords import PipelineKeywords
from ematix_flow.declare.single_load import load

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ematix_flow.record.run import RunResult

P = ParamSpec("P")
R = TypeVar("R")


class PipelineDecorator:
    """Declares pipelines when it stands above a function."""

    def __call__(
        self, *bare: Never, **keywords: Unpack[PipelineKeywords]
    ) -> Callable[[Callable[P, R]], DeclaredPipeline[P, R]]:
        """Declare a pipeline: the function says what to read, the keywords where and how to write.

        The keywords are listed in docs/pipelines.md; `[pipelines.<name>]` in the project's TOML
        may set or override any of them.
        """
        return pipelines.pipeline(*bare, **keywords)

    def sync(
        self,
        *,
        source: Any = None,
        new: bool = False,
        spark: SparkSession | None = None,
        **keywords: Unpack[PipelineKeywords],
    ) -> RunResult:
        """Run one load now, and return the record of the run.

        :param source: SQL over `source_connection`, a `Source`, or a Spark, pandas, polars or
            pyarrow frame; nothing where `source_table` names a table.
        :param new: Load again even if an interrupted run of the name had already landed.
        :param spark: A session of the caller's to run on, instead of the engine's own.
        """
        return load(source, keywords, called="sync", new=new, session=spark)


pipeline = PipelineDecorator()
# The name by which orchestrators call the same thing.
job = pipeline
