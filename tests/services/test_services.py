"""Each server as an ordinary client meets it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.services import namespace
from tests.services.absence import required
from tests.services.certificates import issue
from tests.services.install import find_program
from tests.services.listening import listening
from tests.services.namespace import Bucket, Database, Topic
from tests.services.polling import until
from tests.services.service import Running

pytestmark = pytest.mark.services


@pytest.fixture(params=["postgres", "mariadb", "mysql", "kafka", "s3"])
def running(request: pytest.FixtureRequest) -> Running:
    server: Running = request.getfixturevalue(request.param)
    return server


@pytest.mark.proves("services-real")
def test_listens_on_its_own_ports_of_loopback_and_no_others(running: Running) -> None:
    addresses = listening(running.pid)
    assert {address.port for address in addresses} == set(running.ports.values())
    assert all(address.is_loopback for address in addresses), addresses


def test_secrets_stay_out_of_the_repr(running: Running) -> None:
    secrets = [fact for key, fact in running.facts.items() if "password" in key or "secret" in key]
    assert secrets
    assert not [secret for secret in secrets if secret in repr(running)]


# PostgreSQL


@pytest.mark.proves("services-real")
def test_postgres_round_trip(postgres_database: Database) -> None:
    psycopg = required("psycopg", "psycopg[binary]")
    with psycopg.connect(postgres_database.dsn) as connection:
        connection.execute("create table t (id int primary key, word text)")
        connection.execute("insert into t values (1, 'größer')")
        assert connection.execute("select id, word from t").fetchall() == [(1, "größer")]
        assert connection.execute("show wal_level").fetchone() == ("logical",)


def test_postgres_refuses_a_wrong_password(postgres: Running) -> None:
    psycopg = required("psycopg", "psycopg[binary]")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(postgres.facts["dsn"], password="wrong", connect_timeout=5)


@pytest.mark.parametrize("plugin", ["pgoutput", "test_decoding"])
def test_a_postgres_database_is_dropped_even_with_a_slot_and_a_client(
    plugin: str, postgres: Running
) -> None:
    psycopg = required("psycopg", "psycopg[binary]")
    with namespace.postgres_database(postgres) as database:
        left_open = psycopg.connect(database.dsn, autocommit=True)
        left_open.execute(
            "select pg_create_logical_replication_slot(%s, %s)", (database.name, plugin)
        )
    with psycopg.connect(postgres.facts["dsn"]) as connection:
        query = "select count(*) from pg_database where datname = %s"
        assert connection.execute(query, (database.name,)).fetchone() == (0,)
    left_open.close()


# MariaDB and MySQL


@pytest.mark.proves("services-real")
def test_mysql_is_genuine(mysql_database: Database) -> None:
    server = mysql_database.server
    with _mariadb(server, database=mysql_database.name) as connection:
        cursor = connection.cursor()
        cursor.execute("create table t (word varchar(20) collate utf8mb4_0900_bin)")
        cursor.execute("insert into t values ('größer 🙂')")
        connection.commit()
        cursor.execute("select word, version() from t")
        word, version = cursor.fetchone()
        assert word == "größer 🙂"
        assert "mariadb" not in version.lower()
        cursor.execute("select @@log_bin, @@gtid_mode, @@secure_file_priv")
        assert cursor.fetchone() == (1, "ON", "NULL")


@pytest.mark.parametrize(
    ("user", "password"), [("flow", "wrong"), ("flow", ""), ("root", ""), ("", "")]
)
def test_mysql_refuses_strangers(mysql: Running, user: str, password: str) -> None:
    pymysql = required("pymysql", "pymysql")
    with pytest.raises(pymysql.OperationalError, match=r"Access denied|not allowed to connect"):
        _mariadb(mysql, user=user, password=password)


@pytest.mark.proves("services-real")
def test_mariadb_round_trip(mariadb_database: Database) -> None:
    server = mariadb_database.server
    with _mariadb(server, database=mariadb_database.name) as connection:
        cursor = connection.cursor()
        cursor.execute("create table t (id int primary key, word varchar(20))")
        cursor.execute("insert into t values (1, 'größer 🙂')")
        connection.commit()
        cursor.execute("select id, word from t")
        assert cursor.fetchall() == ((1, "größer 🙂"),)
        cursor.execute("select @@log_bin, @@binlog_format, @@gtid_strict_mode")
        assert cursor.fetchone() == (1, "ROW", 1)


@pytest.mark.parametrize(
    ("user", "password"), [("flow", "wrong"), ("flow", ""), ("root", ""), ("", "")]
)
def test_mariadb_refuses_strangers(mariadb: Running, user: str, password: str) -> None:
    pymysql = required("pymysql", "pymysql")
    with pytest.raises(pymysql.OperationalError, match="Access denied"):
        _mariadb(mariadb, user=user, password=password)


def test_a_mariadb_database_is_dropped_even_with_a_client_in_a_transaction(
    mariadb: Running,
) -> None:
    with namespace.mariadb_database(mariadb) as database:
        left_open = _mariadb(mariadb, database=database.name)
        left_open.cursor().execute("create table t (id int)")
        left_open.cursor().execute("insert into t values (1)")
    with _mariadb(mariadb) as connection, connection.cursor() as cursor:
        cursor.execute("show databases like %s", (database.name,))
        assert cursor.fetchall() == ()
    left_open.close()


def _mariadb(server: Running, **options: Any) -> Any:
    reach = {"host": server.host, "port": server.port, "connect_timeout": 5}
    account = {"user": server.facts["user"], "password": server.facts["password"]}
    return required("pymysql", "pymysql").connect(**{**reach, **account, **options})


# Kafka


def _kafka_clients(server: Running) -> dict[str, dict[str, Any]]:
    """The client settings that each way of securing the broker asks for."""
    facts = server.facts
    tls = {"ssl.ca.location": facts["authority"]}
    pair = {
        "ssl.certificate.location": facts["client_certificate"],
        "ssl.key.location": facts["client_key"],
    }

    def client(listener: str, protocol: str, **more: str) -> dict[str, Any]:
        address = f"{server.host}:{server.ports[listener]}"
        return {"bootstrap.servers": address, "security.protocol": protocol, "log_level": 0, **more}

    def sasl(mechanism: str, who: str) -> dict[str, str]:
        return {
            "sasl.mechanism": mechanism,
            "sasl.username": facts[f"{who}_user"],
            "sasl.password": facts[f"{who}_password"],
        }

    return {
        "plaintext": client("plaintext", "PLAINTEXT"),
        "plain": client("sasl", "SASL_PLAINTEXT", **sasl("PLAIN", "plain")),
        "scram-256": client("sasl", "SASL_PLAINTEXT", **sasl("SCRAM-SHA-256", "scram_256")),
        "scram-512": client("sasl", "SASL_PLAINTEXT", **sasl("SCRAM-SHA-512", "scram_512")),
        "tls": client("tls", "SSL", **tls),
        "mtls": client("mtls", "SSL", **tls, **pair),
        "sasl-tls": client("sasl_tls", "SASL_SSL", **tls, **sasl("SCRAM-SHA-512", "scram_512")),
    }


@pytest.mark.proves("services-real")
@pytest.mark.parametrize(
    "way", ["plaintext", "plain", "scram-256", "scram-512", "tls", "mtls", "sasl-tls"]
)
def test_kafka_round_trip(way: str, kafka: Running, kafka_topic: Topic) -> None:
    confluent = required("confluent_kafka", "confluent-kafka")
    settings = _kafka_clients(kafka)[way]
    producer = confluent.Producer(settings)
    producer.produce(kafka_topic.name, key=b"k", value=b"v")
    assert producer.flush(20) == 0
    consumer = confluent.Consumer(
        {**settings, "group.id": kafka_topic.name, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([kafka_topic.name])
    got: list[Any] = []

    def received() -> bool:
        message = consumer.poll(0.5)
        # Compared with None: a message may be falsy, its length is that of its value.
        if message is not None and message.error() is None:
            got.append((message.key(), message.value()))
        return bool(got)

    try:
        assert until(received, seconds=30)
    finally:
        consumer.close()
    assert got == [(b"k", b"v")]


@pytest.mark.parametrize("way", ["plain", "scram-256", "scram-512", "sasl-tls"])
def test_kafka_refuses_a_wrong_password(way: str, kafka: Running) -> None:
    settings = {**_kafka_clients(kafka)[way], "sasl.password": "wrong"}
    assert "_AUTHENTICATION" in _kafka_refusal(settings)


def test_kafka_refuses_a_client_without_a_certificate(kafka: Running) -> None:
    with_pair = _kafka_clients(kafka)["mtls"]
    pair = ("ssl.certificate.location", "ssl.key.location")
    settings = {key: value for key, value in with_pair.items() if key not in pair}
    assert _kafka_refusal(settings)


def test_kafka_refuses_a_certificate_of_another_authority(kafka: Running, tmp_path: Path) -> None:
    openssl = find_program("openssl")
    assert openssl is not None
    rogue = issue(tmp_path / "rogue", openssl=openssl)
    settings = {
        **_kafka_clients(kafka)["mtls"],
        "ssl.certificate.location": str(rogue.client),
        "ssl.key.location": str(rogue.client_key),
    }
    assert _kafka_refusal(settings)


def _kafka_refusal(settings: dict[str, Any]) -> set[str]:
    """The names of the errors a client runs into; fails if the broker lets it in."""
    confluent = required("confluent_kafka", "confluent-kafka")
    admin = required("confluent_kafka.admin", "confluent-kafka")
    errors: set[str] = set()
    client = admin.AdminClient({**settings, "error_cb": lambda error: errors.add(error.name())})

    def refused() -> bool:
        client.poll(0.1)
        return bool(errors)

    assert until(refused, seconds=20)
    with pytest.raises(confluent.KafkaException):
        client.list_topics(timeout=1)
    client.poll(0)
    return errors


# S3


def _s3(server: Running, **options: str) -> Any:
    config = required("botocore.config", "boto3").Config(
        s3={"addressing_style": "path"}, retries={"max_attempts": 0}
    )
    keys = {
        "aws_access_key_id": server.facts["access_key"],
        "aws_secret_access_key": server.facts["secret_key"],
    }
    return required("boto3", "boto3").client(
        "s3",
        endpoint_url=server.facts["endpoint"],
        region_name=server.facts["region"],
        config=config,
        **{**keys, **options},
    )


@pytest.mark.proves("services-real")
def test_s3_round_trip(s3_bucket: Bucket) -> None:
    client = _s3(s3_bucket.server)
    client.put_object(Bucket=s3_bucket.name, Key="a/b", Body=b"1", IfNoneMatch="*")
    assert client.get_object(Bucket=s3_bucket.name, Key="a/b")["Body"].read() == b"1"
    with pytest.raises(client.exceptions.ClientError) as second:
        client.put_object(Bucket=s3_bucket.name, Key="a/b", Body=b"2", IfNoneMatch="*")
    assert second.value.response["ResponseMetadata"]["HTTPStatusCode"] == 412


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        # The gateway's own code, with status 404; AWS says InvalidAccessKeyId with 403.
        ("aws_access_key_id", "XAdminUserNotFound"),
        ("aws_secret_access_key", "SignatureDoesNotMatch"),
    ],
)
def test_s3_refuses_wrong_keys(s3: Running, wrong: str, code: str) -> None:
    client = _s3(s3, **{wrong: "wrong"})
    with pytest.raises(client.exceptions.ClientError) as refused:
        client.list_buckets()
    assert refused.value.response["Error"]["Code"] == code


def test_an_s3_bucket_is_removed_with_all_versions_and_unfinished_uploads(s3: Running) -> None:
    client = _s3(s3)
    with namespace.s3_bucket(s3) as bucket:
        enabled = {"Status": "Enabled"}
        client.put_bucket_versioning(Bucket=bucket.name, VersioningConfiguration=enabled)
        for body in (b"1", b"2"):
            client.put_object(Bucket=bucket.name, Key="folder/twice", Body=body)
        client.delete_object(Bucket=bucket.name, Key="folder/twice")
        client.create_multipart_upload(Bucket=bucket.name, Key="unfinished")
        assert len(client.list_object_versions(Bucket=bucket.name)["Versions"]) == 2
    assert bucket.name not in {found["Name"] for found in client.list_buckets()["Buckets"]}


def test_names_of_two_tests_differ(kafka: Running) -> None:
    with namespace.kafka_topic(kafka) as one, namespace.kafka_topic(kafka) as other:
        assert one.name != other.name
