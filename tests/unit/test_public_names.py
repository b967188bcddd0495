import subprocess
import sys

import pytest

import ematix_flow


@pytest.mark.parametrize("name", ematix_flow.__all__)
def test_every_public_name_can_be_imported(name):
    assert getattr(ematix_flow, name) is not None


NAMES = """
AllOf AnyOf Array BigInt BigQueryConnection Boolean Bytes Connection CsvConnection Date
DeltaConnection Double DuckDBConnection Float Flow FlowError GlueSchemaRegistryConnection
IcebergConnection InlineCredentialWarning Integer JSON JSONB JsonlConnection KafkaConnection
KinesisConnection ManagedTable MemoryConnection MySQLConnection Numeric OrcConnection
ParquetConnection PostgresConnection PubSubConnection RabbitMQConnection RedshiftConnection Retry
RunResult
S3Connection SQLiteConnection SchemaRegistryConnection SmallInt SnowflakeConnection Source String
Struct Text Timestamp TimestampTZ UUID __version__ clamp connect date_trunc deduplicate_by default
derive email_normalize ematix empty_to_null filter_where limit lower natural_key not_null_or
nullable nullif parse_bool parse_date parse_int parse_numeric parse_timestamp phone_normalize
pipeline pk regex_replace replace round sample_pct sql to_timezone trim truncate udaf udf upper
whitespace_to_null
"""


def test_names_are_sorted_and_pinned():
    assert ematix_flow.__all__ == sorted(ematix_flow.__all__)
    assert set(ematix_flow.__all__) == set(NAMES.split())


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ematix_flow.nonsense  # noqa: B018


HEAVY = ("pyspark", "fastapi", "pandas", "numpy", "pyarrow", "duckdb", "py4j", "pysail")


@pytest.mark.slow
@pytest.mark.proves("light-imports")
@pytest.mark.parametrize(
    "arguments", [["--help"], ["list"], ["plan"], ["runs"], ["explain", "load_orders"]]
)
def test_looking_at_a_project_imports_nothing_heavy(project, arguments):
    project.with_orders()
    code = f"""
import sys
sys.argv = ["flow", *{arguments!r}]
from ematix_flow.cli.root import main
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
print("HEAVY", [name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project.path, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1:] == ["HEAVY []"], done.stdout + done.stderr
