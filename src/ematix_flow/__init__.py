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
    from ematix_flow.connections.inline import InlineCredentialWarning as InlineCredentialWarning
    from ematix_flow.connections.model import BigQueryConnection as BigQueryConnection
    from ematix_flow.connections.model import Connection as Connection
    from ematix_flow.connections.model import CsvConnection as CsvConnection
    from ematix_flow.connections.model import DeltaConnection as DeltaConnection
    from ematix_flow.connections.model import DuckDBConnection as DuckDBConnection
    from ematix_flow.connections.model import (
        GlueSchemaRegistryConnection as GlueSchemaRegistryConnection,
    )
    from ematix_flow.connections.model import IcebergConnection as IcebergConnection
    from ematix_flow.connections.model import JsonlConnection as JsonlConnection
    from ematix_flow.connections.model import KafkaConnection as KafkaConnection
    from ematix_flow.connections.model import KinesisConnection as KinesisConnection
    from ematix_flow.connections.model import MemoryConnection as MemoryConnection
    from ematix_flow.connections.model import MySQLConnection as MySQLConnection
    from ematix_flow.connections.model import OrcConnection as OrcConnection
    from ematix_flow.connections.model import ParquetConnection as ParquetConnection
    from ematix_flow.connections.model import PostgresConnection as PostgresConnection
    from ematix_flow.connections.model import PubSubConnection as PubSubConnection
    from ematix_flow.connections.model import RabbitMQConnection as RabbitMQConnection
    from ematix_flow.connections.model import RedshiftConnection as RedshiftConnection
    from ematix_flow.connections.model import S3Connection as S3Connection
    from ematix_flow.connections.model import SchemaRegistryConnection as SchemaRegistryConnection
    from ematix_flow.connections.model import SnowflakeConnection as SnowflakeConnection
    from ematix_flow.connections.model import SQLiteConnection as SQLiteConnection
    from ematix_flow.declare import decorators as decorators

    ematix = decorators
    from ematix_flow.declare.columns import natural_key as natural_key
    from ematix_flow.declare.columns import nullable as nullable
    from ematix_flow.declare.columns import pk as pk
    from ematix_flow.declare.connections import connect as connect
    from ematix_flow.declare.pipeline_decorator import pipeline as pipeline
    from ematix_flow.declare.tables import ManagedTable as ManagedTable
    from ematix_flow.declare.udfs import udaf as udaf
    from ematix_flow.declare.udfs import udf as udf
    from ematix_flow.errors import FlowError as FlowError
    from ematix_flow.record.run import RunResult as RunResult
    from ematix_flow.spec.normalize import clamp as clamp
    from ematix_flow.spec.normalize import date_trunc as date_trunc
    from ematix_flow.spec.normalize import default as default
    from ematix_flow.spec.normalize import derive as derive
    from ematix_flow.spec.normalize import email_normalize as email_normalize
    from ematix_flow.spec.normalize import empty_to_null as empty_to_null
    from ematix_flow.spec.normalize import lower as lower
    from ematix_flow.spec.normalize import not_null_or as not_null_or
    from ematix_flow.spec.normalize import nullif as nullif
    from ematix_flow.spec.normalize import parse_bool as parse_bool
    from ematix_flow.spec.normalize import parse_date as parse_date
    from ematix_flow.spec.normalize import parse_int as parse_int
    from ematix_flow.spec.normalize import parse_numeric as parse_numeric
    from ematix_flow.spec.normalize import parse_timestamp as parse_timestamp
    from ematix_flow.spec.normalize import phone_normalize as phone_normalize
    from ematix_flow.spec.normalize import regex_replace as regex_replace
    from ematix_flow.spec.normalize import replace as replace
    from ematix_flow.spec.normalize import round as round  # noqa: A004  # the marker's name
    from ematix_flow.spec.normalize import sql as sql
    from ematix_flow.spec.normalize import to_timezone as to_timezone
    from ematix_flow.spec.normalize import trim as trim
    from ematix_flow.spec.normalize import truncate as truncate
    from ematix_flow.spec.normalize import upper as upper
    from ematix_flow.spec.normalize import whitespace_to_null as whitespace_to_null
    from ematix_flow.spec.retry import Retry as Retry
    from ematix_flow.spec.source import Source as Source
    from ematix_flow.spec.transform import deduplicate_by as deduplicate_by
    from ematix_flow.spec.transform import filter_where as filter_where
    from ematix_flow.spec.transform import limit as limit
    from ematix_flow.spec.transform import sample_pct as sample_pct
    from ematix_flow.spec.type_annotations import Array as Array
    from ematix_flow.spec.type_annotations import Numeric as Numeric
    from ematix_flow.spec.type_annotations import String as String
    from ematix_flow.spec.type_annotations import Struct as Struct
    from ematix_flow.spec.types import JSON as JSON
    from ematix_flow.spec.types import JSONB as JSONB
    from ematix_flow.spec.types import UUID as UUID
    from ematix_flow.spec.types import BigInt as BigInt
    from ematix_flow.spec.types import Boolean as Boolean
    from ematix_flow.spec.types import Bytes as Bytes
    from ematix_flow.spec.types import Date as Date
    from ematix_flow.spec.types import Double as Double
    from ematix_flow.spec.types import Float as Float
    from ematix_flow.spec.types import Integer as Integer
    from ematix_flow.spec.types import SmallInt as SmallInt
    from ematix_flow.spec.types import Text as Text
    from ematix_flow.spec.types import Timestamp as Timestamp
    from ematix_flow.spec.types import TimestampTZ as TimestampTZ
    from ematix_flow.spec.workflow import AllOf as AllOf
    from ematix_flow.spec.workflow import AnyOf as AnyOf

_TYPES = (
    *("Array", "BigInt", "Boolean", "Bytes", "Date", "Double", "Float", "Integer", "JSON"),
    *("JSONB", "Numeric", "SmallInt", "String", "Struct", "Text", "Timestamp", "TimestampTZ"),
    "UUID",
)
_CONNECTIONS = (
    *("BigQueryConnection", "Connection", "CsvConnection", "DeltaConnection", "DuckDBConnection"),
    *("GlueSchemaRegistryConnection", "IcebergConnection", "JsonlConnection", "KafkaConnection"),
    *("KinesisConnection", "MemoryConnection", "MySQLConnection", "OrcConnection"),
    *("ParquetConnection", "PostgresConnection", "PubSubConnection", "RabbitMQConnection"),
    *("RedshiftConnection", "S3Connection", "SQLiteConnection", "SchemaRegistryConnection"),
    "SnowflakeConnection",
)
_MARKERS = (
    *("clamp", "date_trunc", "default", "derive", "email_normalize", "empty_to_null", "lower"),
    *("not_null_or", "nullif", "parse_bool", "parse_date", "parse_int", "parse_numeric"),
    *("parse_timestamp", "phone_normalize", "regex_replace", "replace", "round", "sql"),
    *("to_timezone", "trim", "truncate", "upper", "whitespace_to_null"),
)
_STEPS = ("deduplicate_by", "filter_where", "limit", "sample_pct")

_HOMES = {
    **dict.fromkeys(_TYPES, "ematix_flow.spec.types"),
    **dict.fromkeys(_CONNECTIONS, "ematix_flow.connections.model"),
    **dict.fromkeys(_MARKERS, "ematix_flow.spec.normalize"),
    **dict.fromkeys(_STEPS, "ematix_flow.spec.transform"),
    **dict.fromkeys(("natural_key", "nullable", "pk"), "ematix_flow.declare.columns"),
    **dict.fromkeys(("AllOf", "AnyOf"), "ematix_flow.spec.workflow"),
    **dict.fromkeys(("udaf", "udf"), "ematix_flow.declare.udfs"),
    "Flow": "ematix_flow.api",
    "FlowError": "ematix_flow.errors",
    "InlineCredentialWarning": "ematix_flow.connections.inline",
    "ManagedTable": "ematix_flow.declare.tables",
    "Retry": "ematix_flow.spec.retry",
    "RunResult": "ematix_flow.record.run",
    "Source": "ematix_flow.spec.source",
    "connect": "ematix_flow.declare.connections",
    "pipeline": "ematix_flow.declare.pipeline_decorator",
}
# Modules that are themselves what users import.
_MODULES = {"ematix": "ematix_flow.declare.decorators"}

__all__ = sorted([*_HOMES, *_MODULES, "__version__"])  # noqa: PLE0605  # one list of names, not two


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        _let_api_run_declarations()
        return import_module(_MODULES[name])
    if name in _HOMES:
        if _HOMES[name].startswith(("ematix_flow.declare", "ematix_flow.connections")):
            _let_api_run_declarations()
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _let_api_run_declarations() -> None:
    """Tell declarations and connections, which know no engine, who carries out what they ask."""
    import_module("ematix_flow.declare.runner").use_runner(_flow_over)
    import_module("ematix_flow.connections.frames").use_frame_access(_FrameAccess())


def _flow_over(project: Any, *, session: Any, directory: Any) -> Any:
    return import_module("ematix_flow.api").Flow.over(project, directory, session=session)


class _FrameAccess:
    """Moves the frames of connections; what does so is loaded when the first one is moved."""

    def __getattr__(self, name: str) -> Any:
        home = import_module("ematix_flow.declare.frame_access")
        return getattr(home.DeclaredFrameAccess(), name)


def __dir__() -> list[str]:
    return list(__all__)
