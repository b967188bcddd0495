"""A project's functions, made known to a Spark session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, assert_never

from ematix_flow.spec.arrow_type import arrow_type
from ematix_flow.spec.udf import SparkUdf, Udaf, Udf, UserFunction
from ematix_flow.sqltext.type_names import type_name
from ematix_flow.transform.by_value import pickled_by_value
from ematix_flow.transform.udf_call import Signature, aggregate_call, row_call

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register_udfs(spark: SparkSession, specs: Iterable[UserFunction]) -> None:
    """Let SQL and `expr(...)` in *spark* call each function by its name."""
    for spec in specs:
        with pickled_by_value(_code(spec)):
            spark.udf.register(spec.name, _as_spark(spec))


def _as_spark(spec: UserFunction) -> Any:
    import pyarrow as pa
    from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]  # not in its stubs

    match spec:
        case SparkUdf(function=function):
            return function
        case Udf(function=function):
            call, result = row_call(_signature(spec), function), pa.Array
        case Udaf(cls=cls, state=state):
            fields = tuple((name, arrow_type(kind)) for name, kind in state)
            call, result = aggregate_call(_signature(spec), fields, cls), pa.Scalar
        case _:
            assert_never(spec)
    # By these Spark tells a function of rows from an aggregate.
    call.__annotations__ = dict.fromkeys(("arrays", "named"), pa.Array) | {"return": result}
    return arrow_udf(call, returnType=type_name(spec.returns, "spark"))


def _signature(spec: Udf | Udaf) -> Signature:
    return Signature(
        name=spec.name,
        args=tuple(arrow_type(kind) for kind in spec.args),
        returns=arrow_type(spec.returns),
        file=spec.location.file,
        line=spec.location.line,
    )


def _code(spec: UserFunction) -> object:
    """Return what the user wrote."""
    match spec:
        case Udf(function=function):
            return function
        case Udaf(cls=cls):
            return cls
        case SparkUdf(function=function):
            return function.func
        case _:
            assert_never(spec)
