"""The typed models: what they take, what they refuse, how they read URLs."""

import copy
import pickle

import pytest

from ematix_flow.connections.kinds import comes_later, kind, kinds
from ematix_flow.connections.model import (
    KINDS,
    Connection,
    CsvConnection,
    KafkaConnection,
    MemoryConnection,
    MySQLConnection,
    ParquetConnection,
    PostgresConnection,
    SchemaRegistryConnection,
)
from ematix_flow.connections.secrets import SecretResolver
from ematix_flow.errors import DeclarationError, NotSupported, UnknownName

EVERY_KIND = {
    *("postgres", "mysql", "sqlite", "duckdb", "parquet", "csv", "jsonl", "orc", "s3", "delta"),
    *("iceberg", "kafka", "rabbitmq", "pubsub", "kinesis", "schema_registry"),
    *("glue_schema_registry", "snowflake", "bigquery", "redshift", "memory"),
}


def test_every_kind_has_its_model():
    assert set(KINDS) == EVERY_KIND


def test_a_model_is_made_by_keywords_and_knows_the_line():
    made = PostgresConnection(name="warehouse", host="db", database="shop")
    assert (made.kind, made.port, made.user) == ("postgres", 5432, None)
    assert made.origin.startswith("tests/unit/connections/test_models.py:")
    assert PostgresConnection(host="db", database="shop").name == ""
    assert repr(made) == "PostgresConnection(name='warehouse', host='db', database='shop')"


def refreshed():
    return "token"


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: PostgresConnection(hots="db"), "no property 'hots'; did you mean 'host'?"),
        (lambda: PostgresConnection(name="w"), "connection 'w' (postgres) lacks database"),
        (lambda: KafkaConnection(name="k"), "connection 'k' (kafka) lacks bootstrap_servers"),
        (lambda: PostgresConnection(database="d", port="x"), "port takes an int, not 'x'"),
        (lambda: PostgresConnection(database="d", port=True), "port takes an int, not True"),
        (lambda: PostgresConnection(database=None), "database takes a str, not None"),
        (
            lambda: PostgresConnection(database="d", sslmode="requires"),
            "sslmode takes one of disable, allow, prefer, require, verify-ca, verify-full, "
            "not 'requires'; did you mean 'require'?",
        ),
        (
            lambda: KafkaConnection(bootstrap_servers="k:1", properties=[1]),
            "properties takes a table of settings, not a list",
        ),
        (
            lambda: KafkaConnection(bootstrap_servers="k:1", properties={"a": [1]}),
            "properties takes a table of texts, not a list",
        ),
        (
            lambda: KafkaConnection(
                bootstrap_servers="k:1",
                oauthbearer_token_refresh_cb="m:f",
                msk_iam=True,
            ),
            "more than one way to log in: msk_iam, oauthbearer_token_refresh_cb",
        ),
        (
            lambda: KafkaConnection(bootstrap_servers="k:1", sasl_plain_username="app"),
            "sasl_plain lacks sasl_plain_password",
        ),
        (
            lambda: KafkaConnection(bootstrap_servers="k", oauthbearer_token_refresh_cb=lambda: 1),
            "takes a function that can be imported by its name",
        ),
        (lambda: SchemaRegistryConnection(name="r"), "connection 'r' (schema_registry) lacks url"),
        (lambda: SchemaRegistryConnection(url="ftp://r"), "http://... or https://..."),
        (lambda: KINDS["delta"](name="d"), "connection 'd': it lacks path or catalog"),
        (lambda: KINDS["iceberg"](name="i"), "it lacks path, where a hadoop catalog"),
        (
            lambda: KINDS["iceberg"](catalog_type="rest"),
            "it lacks uri, the address of its rest catalog",
        ),
        (
            lambda: PostgresConnection(url="mysql://db/shop"),
            "a URL of scheme 'mysql' is not for kind 'postgres' (it takes: postgres, postgresql)",
        ),
        (lambda: PostgresConnection(url="db/shop"), "takes a URL with a scheme (postgres"),
        (
            lambda: PostgresConnection(url="postgres://db/shop", host="other"),
            "host is given twice, in its URL and beside it",
        ),
        (lambda: PostgresConnection(url="postgres://db:x/shop"), "its URL: port takes an int"),
        (lambda: PostgresConnection(url="postgres://db:+-5/shop"), "its URL: port takes an int"),
        (lambda: PostgresConnection(url=f"postgres://db:{'9' * 5000}/d"), "port takes an int"),
        (lambda: PostgresConnection(url="postgres://u:%ff@db/d"), "bytes that are not UTF-8"),
        (
            lambda: PostgresConnection(url="postgres://db/d?sslmode=require&sslmode=disable"),
            "its URL says something twice behind the ?",
        ),
        (
            lambda: Connection.from_config("c", {"url": "s3://key:${PW}@bucket/in"}),
            "its URL has a user, which kind 's3' does not take from a URL",
        ),
        (
            lambda: Connection.from_config("c", {"kind": "csv", "url": "s3://a:${PW}@bucket/in"}),
            "its URL has a password, which kind 'csv' does not take from a URL",
        ),
        (
            lambda: Connection.from_config("c", {"url": "s3://bucket:9000/in"}),
            "its URL has a port, which kind 's3' does not take from a URL",
        ),
        (
            lambda: Connection.from_config("c", {"url": "kafka://k:9092/orders"}),
            "its URL has a path, which kind 'kafka' does not take from a URL",
        ),
        (
            lambda: Connection.from_config("c", {"kind": "csv", "type": "orc", "path": "in"}),
            "kind is given twice, once as type",
        ),
        (
            lambda: Connection.from_config("c", {"kind": "mysql", "database": "a", "db": "b"}),
            "database is given twice, once as db",
        ),
        (
            lambda: KafkaConnection(bootstrap_servers="k:1", properties={"a": {"b": 1}, "a.b": 2}),
            "not a.b given twice",
        ),
        (
            lambda: Connection.from_config(
                "c",
                {
                    "kind": "kafka",
                    "bootstrap_servers": "k:1",
                    "tls": {"ca_file": "a"},
                    "tls_ca_file": "b",
                },
            ),
            "tls_ca_file is given twice",
        ),
        (
            lambda: Connection.from_config("c", {"url": "csv:///in?delimeter=;"}),
            "no property 'delimeter'; did you mean 'delimiter'?",
        ),
    ],
)
def test_what_is_refused(make, expected):
    with pytest.raises(DeclarationError) as caught:
        make()
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            {"url": "postgers://db/d"},
            "in the URL of connection 'c': 'postgers'; did you mean 'postgres'?",
        ),
        ({"url": "gs://bucket/in"}, "has no kind (one of csv, delta, iceberg, jsonl, orc, parq"),
        ({"url": "${ANY}"}, "connection 'c' has no kind (one of bigquery, csv,"),
        # What stands before :// is no scheme, and may be a password.
        ({"url": "app:hunter2@db/d?x=://"}, "connection 'c' has no kind (one of bigquery, csv,"),
        ({"kind": 3}, "unknown kind of connection 'c': '3'"),
    ],
)
def test_the_kind_of_a_url(config, expected):
    with pytest.raises((DeclarationError, UnknownName)) as caught:
        Connection.from_config("c", config)
    assert expected in str(caught.value)


PASSWORD = {"user": "app", "password": "${PW}"}


@pytest.mark.parametrize(
    ("url", "config"),
    [
        (
            "postgres://app:${PW}@db:6000/shop?sslmode=require&tcp_user_timeout=9",
            {
                "kind": "postgres",
                "host": "db",
                "port": 6000,
                "database": "shop",
                **PASSWORD,
                "sslmode": "require",
                "properties": {"tcp_user_timeout": "9"},
            },
        ),
        (
            "postgresql://one:5432,two:5433/shop",
            {"kind": "postgres", "host": "one:5432,two:5433", "database": "shop"},
        ),
        ("postgres://[::1]:6/d", {"kind": "postgres", "host": "::1", "port": 6, "database": "d"}),
        (
            "mysql://app:${vault:db/shop#pass}@db/a%20b",
            {
                "kind": "mysql",
                "host": "db",
                "database": "a b",
                "user": "app",
                "password": "${vault:db/shop#pass}",
            },
        ),
        ("mariadb://db/shop", {"kind": "mysql", "host": "db", "database": "shop"}),
        ("sqlite:///shop.db", {"kind": "sqlite", "path": "shop.db"}),
        ("duckdb:////var/shop.db", {"kind": "duckdb", "path": "/var/shop.db"}),
        ("kafka://a:9092,b:9092", {"kind": "kafka", "bootstrap_servers": "a:9092,b:9092"}),
        (
            "kafka://app:${PW}@a:9092?tls=true&linger.ms=5&ssl.key.password=${KEY}",
            {
                "kind": "kafka",
                "bootstrap_servers": "a:9092",
                "sasl_plain_username": "app",
                "sasl_plain_password": "${PW}",
                "tls": True,
                "properties": {"linger.ms": "5", "ssl.key.password": "${KEY}"},
            },
        ),
        (
            "amqps://app:${PW}@mq/orders",
            {"kind": "rabbitmq", "host": "mq", "virtual_host": "orders", **PASSWORD, "tls": True},
        ),
        (
            "snowflake://app:${PW}@org-acc/db/public?warehouse=small",
            {
                "kind": "snowflake",
                "account": "org-acc",
                **PASSWORD,
                "warehouse": "small",
                "database": "db",
                "schema": "public",
            },
        ),
        (
            "s3://bucket/a/b?format=csv",
            {"kind": "s3", "bucket": "bucket", "prefix": "a/b", "format": "csv"},
        ),
        ("bigquery://proj/set", {"kind": "bigquery", "project_id": "proj", "dataset": "set"}),
        ("redshift://h/d", {"kind": "redshift", "host": "h", "database": "d"}),
        ("pubsub://proj", {"kind": "pubsub", "project_id": "proj"}),
        (
            "kinesis://orders?region=eu-west-1",
            {"kind": "kinesis", "stream_name": "orders", "region": "eu-west-1"},
        ),
        ("memory://shared", {"kind": "memory", "database": "shared"}),
    ],
)
def test_a_url_decides_the_kind_and_says_the_properties(url, config):
    assert Connection.from_config({"url": url}).to_config() == config


@pytest.mark.parametrize("path", ["s3://bucket/in", "gs://b/in", "abfss://box@acc.net/in", "in"])
@pytest.mark.parametrize("kind_", ["csv", "parquet", "jsonl", "orc", "delta", "iceberg"])
def test_files_may_be_on_an_object_store(kind_, path):
    by_url = Connection.from_config("c", {"kind": kind_, "url": path})
    assert by_url == Connection.from_config("c", {"kind": kind_, "path": path})
    assert by_url.path == path
    assert by_url.is_remote == ("://" in path)


def test_a_path_on_an_object_store_is_no_path_of_this_machine():
    with pytest.raises(NotSupported, match=r"'s3://b/in' is on an object store"):
        _ = ParquetConnection(name="p", path="s3://b/in").location


@pytest.mark.parametrize(
    "url",
    [
        "postgres://app:12/topsecret@db/shop",
        "postgres://app:12?topsecret@db/shop",
        "postgres://app:topsecret/x@db/shop",
        "mysql://app:topsecret?x@db/shop",
        "amqp://app:1/topsecret@mq",
        "kafka://app:1/topsecret@mq",
    ],
)
def test_a_password_that_breaks_its_url_is_not_shown(url):
    with pytest.raises(DeclarationError) as caught:
        Connection.from_config("c", {"url": url})
    assert "topsecret" not in str(caught.value)
    assert "percent-encode" in str(caught.value)


@pytest.mark.proves("secrets-late")
def test_a_url_behind_a_reference_is_read_at_use():
    made = PostgresConnection(name="w", url="${URL}")
    assert made.to_config() == {"name": "w", "kind": "postgres", "url": "${URL}"}
    live = made.resolved(SecretResolver(environ={"URL": "postgres://app:p%40ss@db/shop"}))
    assert (live.host, live.password, live.url) == ("db", "p@ss", None)
    assert "p@ss" not in repr(live)
    with pytest.raises(DeclarationError) as caught:
        made.resolved(SecretResolver(environ={"URL": "mysql://app:topsecret@db/shop"}))
    assert "topsecret" not in str(caught.value)


def test_what_a_reference_stands_for_is_read_to_its_type():
    made = PostgresConnection(name="w", database="d", port="${PORT}", connect_timeout="${T:-7}")
    live = made.resolved(SecretResolver(environ={"PORT": "6000"}))
    assert (live.port, live.connect_timeout) == (6000, 7)
    with pytest.raises(DeclarationError, match="port takes an int, not 'many'"):
        made.resolved(SecretResolver(environ={"PORT": "many"}))


def test_groups_and_aliases():
    made = Connection.from_config(
        "k",
        {
            "type": "kafka",
            "brokers": "k:9092",
            "sasl_scram": {"username": "app", "password": "${PW}"},
            "tls": {"ca_file": "ca.pem"},
        },
    )
    assert made == KafkaConnection(
        name="k",
        bootstrap_servers="k:9092",
        sasl_scram_username="app",
        sasl_scram_password="${PW}",
        tls=True,
        tls_ca_file="ca.pem",
    )
    assert made.security_protocol == "SASL_SSL"
    assert KafkaConnection(bootstrap_servers="k").security_protocol == "PLAINTEXT"
    assert Connection.from_config("w", {"url": "postgres://db?dbname=shop"}).database == "shop"


def test_a_function_is_kept_by_its_name():
    made = KafkaConnection(bootstrap_servers="k:1", oauthbearer_token_refresh_cb=refreshed)
    assert made.oauthbearer_token_refresh_cb == f"{__name__}:refreshed"


def test_a_registry_keeps_its_address_without_the_login():
    made = SchemaRegistryConnection(name="r", url="https://app:${PW}@reg:8081/api")
    assert made.url == "https://reg:8081/api"
    assert (made.basic_auth_user, made.basic_auth_password) == ("app", "${PW}")
    behind = SchemaRegistryConnection(url="${URL}")
    assert behind.resolved(SecretResolver(environ={"URL": "http://r:1"})).url == "http://r:1"


def test_settings_are_flat_ordered_and_cannot_change():
    made = KafkaConnection(bootstrap_servers="k:1", properties={"z": 1, "linger": {"ms": True}})
    assert dict(made.properties) == {"linger.ms": "true", "z": "1"}
    assert list(made.properties) == ["linger.ms", "z"]
    same = KafkaConnection(bootstrap_servers="k:1", properties={"linger.ms": "true", "z": "1"})
    assert made == same
    assert hash(made) == hash(same)
    with pytest.raises(TypeError):
        made.properties["z"] = "2"


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]
)
def test_a_model_can_be_copied_and_sent(again):
    made = KafkaConnection(name="k", bootstrap_servers="k:1", properties={"a": "b"})
    assert again(made) == made


def test_the_dsn_of_postgres():
    live = PostgresConnection(
        name="w",
        host="db",
        database="a/b",
        user="ä b",
        password="${PW}",
        sslmode="require",
        connect_timeout=3,
        options="-c work_mem=1GB",
        properties={"target_session_attrs": "any"},
    ).resolved(SecretResolver(environ={"PW": "p@:/? w"}))
    assert live.dsn == (
        "postgresql://%C3%A4%20b:p%40%3A%2F%3F%20w@db:5432/a%2Fb?sslmode=require"
        "&connect_timeout=3&application_name=ematix-flow&options=-c%20work_mem%3D1GB"
        "&target_session_attrs=any"
    )
    # What libpq reads from it is what was put in.
    conninfo = pytest.importorskip("psycopg.conninfo")
    assert conninfo.conninfo_to_dict(live.dsn) == {
        "user": "ä b",
        "password": "p@:/? w",
        "host": "db",
        "port": "5432",
        "dbname": "a/b",
        **live.parameters,
    }


def test_the_dsn_of_a_socket():
    made = PostgresConnection(name="w", host="/run/pg", database="d")
    assert made.dsn.startswith("postgresql://%2Frun%2Fpg:5432/d?")


def test_mysql_refuses_what_its_driver_is_not_given():
    with pytest.raises(DeclarationError, match="'useSSL'"):
        MySQLConnection(url="mysql://db/shop?useSSL=true")


def test_memory_is_a_kind_of_its_own():
    assert Connection.from_config("m", {"kind": "memory", "url": ":memory:"}) == MemoryConnection(
        name="m"
    )


def test_kinds_know_their_family_and_whether_they_can_be_used():
    assert (kind("csv").planned, kind("csv").family) == (False, "files")
    assert kind("snowflake").planned
    assert {each.name for each in kinds()} == EVERY_KIND
    assert kind("csv").model is CsvConnection
    with pytest.raises(UnknownName, match="did you mean 'snowflake'"):
        kind("snowflak")
    assert str(comes_later("snowflake")) == (
        "kind 'snowflake': connections can be declared, reading and writing comes later\n"
        "Hint: what can be read or written today: "
        "csv, duckdb, memory, mysql, parquet, postgres, sqlite"
    )


def test_what_stands_where_a_scheme_belongs_is_not_shown():
    with pytest.raises(DeclarationError, match="takes a URL with a scheme") as caught:
        PostgresConnection(url="app:hunter2@db/d?x=://")
    assert "hunter2" not in str(caught.value)


def test_the_advice_on_encoding_is_not_taken_for_a_password():
    with pytest.raises(DeclarationError, match="%40 for @"):
        PostgresConnection(url="postgres://db:x/shop")


def test_a_path_in_the_home_of_nobody():
    made = Connection.from_config("c", {"kind": "csv", "path": "~no-such-user/in"})
    with pytest.raises(DeclarationError, match="the home of an unknown user"):
        _ = made.location
