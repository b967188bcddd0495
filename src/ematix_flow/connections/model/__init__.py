"""One model per kind of connection."""

from ematix_flow.connections.model.brokers import (
    KafkaConnection,
    KinesisConnection,
    PubSubConnection,
    RabbitMQConnection,
)
from ematix_flow.connections.model.connection import Connection
from ematix_flow.connections.model.databases import (
    DatabaseFileConnection,
    DuckDBConnection,
    SQLiteConnection,
)
from ematix_flow.connections.model.files import (
    CsvConnection,
    JsonlConnection,
    OrcConnection,
    ParquetConnection,
    PathConnection,
    S3Connection,
)
from ematix_flow.connections.model.lakes import DeltaConnection, IcebergConnection
from ematix_flow.connections.model.memory import MemoryConnection
from ematix_flow.connections.model.property import properties_of
from ematix_flow.connections.model.registries import (
    GlueSchemaRegistryConnection,
    SchemaRegistryConnection,
)
from ematix_flow.connections.model.registry import KINDS, property_names
from ematix_flow.connections.model.servers import MySQLConnection, PostgresConnection
from ematix_flow.connections.model.settings import Settings
from ematix_flow.connections.model.warehouses import (
    BigQueryConnection,
    RedshiftConnection,
    SnowflakeConnection,
)

# The same, as Python would spell them.
SqliteConnection = SQLiteConnection
DuckdbConnection = DuckDBConnection

__all__ = [
    "KINDS",
    "BigQueryConnection",
    "Connection",
    "CsvConnection",
    "DatabaseFileConnection",
    "DeltaConnection",
    "DuckDBConnection",
    "DuckdbConnection",
    "GlueSchemaRegistryConnection",
    "IcebergConnection",
    "JsonlConnection",
    "KafkaConnection",
    "KinesisConnection",
    "MemoryConnection",
    "MySQLConnection",
    "OrcConnection",
    "ParquetConnection",
    "PathConnection",
    "PostgresConnection",
    "PubSubConnection",
    "RabbitMQConnection",
    "RedshiftConnection",
    "S3Connection",
    "SQLiteConnection",
    "SchemaRegistryConnection",
    "Settings",
    "SnowflakeConnection",
    "SqliteConnection",
    "properties_of",
    "property_names",
]
