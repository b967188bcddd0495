"""ematix-flow: declarative batch and streaming pipelines in Python, on Spark.

    from ematix_flow import BigInt, Text, ematix, pk

    @ematix.connection
    class shop:
        kind = "sqlite"
        path = "shop.db"

Names load on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ematix_flow._version import __version__ as __version__

if TYPE_CHECKING:
    from ematix_flow.api import Flow as Flow
    from ematix_flow.declare import decorators as decorators

    ematix = decorators
    from ematix_flow.declare.columns import natural_key as natural_key
    from ematix_flow.declare.columns import nullable as nullable
    from ematix_flow.declare.columns import pk as pk
    from ematix_flow.errors import FlowError as FlowError
    from ematix_flow.spec.types import JSON as JSON
    from ematix_flow.spec.types import JSONB as JSONB
    from ematix_flow.spec.types import UUID as UUID
    from ematix_flow.spec.types import Array as Array
    from ematix_flow.spec.types import BigInt as BigInt
    from ematix_flow.spec.types import Boolean as Boolean
    from ematix_flow.spec.types import Bytes as Bytes
    from ematix_flow.spec.types import Date as Date
    from ematix_flow.spec.types import Double as Double
    from ematix_flow.spec.types import Float as Float
    from ematix_flow.spec.types import Integer as Integer
    from ematix_flow.spec.types import Numeric as Numeric
    from ematix_flow.spec.types import SmallInt as SmallInt
    from ematix_flow.spec.types import String as String
    from ematix_flow.spec.types import Struct as Struct
    from ematix_flow.spec.types import Text as Text
    from ematix_flow.spec.types import Timestamp as Timestamp
    from ematix_flow.spec.types import TimestampTZ as TimestampTZ

_TYPES = (
    *("Array", "BigInt", "Boolean", "Bytes", "Date", "Double", "Float", "Integer", "JSON"),
    *("JSONB", "Numeric", "SmallInt", "String", "Struct", "Text", "Timestamp", "TimestampTZ"),
    "UUID",
)

_HOMES = {
    **dict.fromkeys(_TYPES, "ematix_flow.spec.types"),
    **dict.fromkeys(("natural_key", "nullable", "pk"), "ematix_flow.declare.columns"),
    "Flow": "ematix_flow.api",
    "FlowError": "ematix_flow.errors",
}

__all__ = sorted([*_HOMES, "__version__", "ematix"])  # noqa: PLE0605  # one list of names, not two


def __getattr__(name: str) -> Any:
    if name == "ematix":
        return import_module("ematix_flow.declare.decorators")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
