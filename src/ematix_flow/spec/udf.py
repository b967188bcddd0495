"""Functions that users add to SQL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ematix_flow._base.location import Location
from ematix_flow.spec.types import DataType


@dataclass(frozen=True, slots=True, kw_only=True)
class Udf:
    """A function of pyarrow arrays: one value for each row."""

    name: str
    args: tuple[DataType, ...]
    returns: DataType
    function: Callable[..., object]
    location: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Udaf:
    """An aggregate: one value for many rows.

    :param state: What one instance hands to another, so that parts can be merged.
    :param cls: Made once for each part; has `update_batch merge_batch evaluate state`.
    """

    name: str
    args: tuple[DataType, ...]
    state: tuple[tuple[str, DataType], ...]
    returns: DataType
    cls: type[Any]
    location: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkUdf:
    """A function made by pyspark itself (`pandas_udf`): registered as it is, checked by Spark."""

    name: str
    function: Any
    location: Location


UserFunction = Udf | Udaf | SparkUdf
