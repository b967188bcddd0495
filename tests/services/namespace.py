"""A corner of a shared server for one test: fresh when it begins, gone when it ends.

Servers are reused between runs, so a test that kept to one database or topic would meet what the
last run left there.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.services import kafka as kafka_server
from tests.services import mysql_family
from tests.services import postgres as postgres_server
from tests.services import s3 as s3_server
from tests.services.service import Running


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A database of its own; `dsn` holds the password and stays out of the repr."""

    server: Running
    name: str
    dsn: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    server: Running
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic name nobody else uses; the broker creates the topic on first use."""

    server: Running
    name: str


def fresh_name(separator: str) -> str:
    return f"test{separator}{uuid.uuid4().hex[:16]}"


@contextmanager
def postgres_database(server: Running) -> Iterator[Database]:
    psycopg = postgres_server.client()
    name = fresh_name("_")
    with psycopg.connect(server.facts["dsn"], autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
    try:
        base = server.facts["dsn"].rpartition("/")[0]
        yield Database(server=server, name=name, dsn=f"{base}/{name}")
    finally:
        with psycopg.connect(server.facts["dsn"], autocommit=True) as connection:
            _drop_slots(connection, name)
            connection.execute(f'drop database if exists "{name}" with (force)')


def _drop_slots(connection: Any, database: str) -> None:
    """Remove replication slots: a database that has one cannot be dropped, not even by force."""
    mine = "from pg_replication_slots where database = %s"
    connection.execute(
        # The timeout makes the server wait for the walsender's end, as a drop would fail before.
        f"select pg_terminate_backend(active_pid, 5000) {mine} and active",
        (database,),
    )
    connection.execute(f"select pg_drop_replication_slot(slot_name) {mine}", (database,))


@contextmanager
def mariadb_database(server: Running) -> Iterator[Database]:
    name = fresh_name("_")
    with mysql_family.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(f"create database `{name}`")
    try:
        user, password = server.facts["user"], server.facts["password"]
        dsn = f"mysql://{user}:{password}@{server.host}:{server.port}/{name}"
        yield Database(server=server, name=name, dsn=dsn)
    finally:
        with mysql_family.connect(server) as connection, connection.cursor() as cursor:
            # A client that a failed test left in a transaction holds the drop up without end.
            cursor.execute("select id from information_schema.processlist where db = %s", (name,))
            for (client_id,) in cursor.fetchall():
                cursor.execute("kill %s", (client_id,))
            cursor.execute(f"drop database if exists `{name}`")


# It speaks the same language.
mysql_database = mariadb_database


@contextmanager
def s3_bucket(server: Running) -> Iterator[Bucket]:
    s3 = s3_server.connect(server)
    name = fresh_name("-")
    s3.create_bucket(Bucket=name)
    try:
        yield Bucket(server=server, name=name)
    finally:
        _empty(s3, name)
        s3.delete_bucket(Bucket=name)


def _empty(s3: Any, bucket: str) -> None:
    """Delete every version of every object and every unfinished upload; both keep a bucket."""
    for page in s3.get_paginator("list_multipart_uploads").paginate(Bucket=bucket):
        for upload in page.get("Uploads", ()):
            s3.abort_multipart_upload(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        for entry in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
            s3.delete_object(Bucket=bucket, Key=entry["Key"], VersionId=entry["VersionId"])


@contextmanager
def kafka_topic(server: Running) -> Iterator[Topic]:
    name = fresh_name("-")
    try:
        yield Topic(server=server, name=name)
    finally:
        kafka = kafka_server.client()
        admin = kafka.admin.AdminClient({"bootstrap.servers": server.facts["bootstrap_servers"]})
        if name in admin.list_topics(timeout=10).topics:
            admin.delete_topics([name])[name].result(timeout=10)
