"""Cloud data warehouses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from ematix_flow.connections.model.address import Address
from ematix_flow.connections.model.connection import Connection
from ematix_flow.connections.model.property import prop
from ematix_flow.connections.model.servers import DatabaseServerConnection
from ematix_flow.connections.model.settings import NO_SETTINGS


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SnowflakeConnection(Connection):
    """A Snowflake account."""

    kind = "snowflake"
    schemes = ("snowflake",)
    requires: ClassVar[tuple[str, ...]] = ("account",)
    aliases: ClassVar[Mapping[str, str]] = {"username": "user"}

    account: str = prop("", "The account: `organisation-account`")
    user: str | None = prop(None, "Who logs in")
    password: str | None = prop(None, "Its password", secret=True)
    private_key_file: str | None = prop(None, "File of a key to log in by, PEM")
    private_key_passphrase: str | None = prop(None, "What opens the key", secret=True)
    authenticator: str | None = prop(None, "Another way to log in: `oauth`, `externalbrowser`")
    token: str | None = prop(None, "The token, for `oauth`", secret=True)
    role: str | None = prop(None, "The role to take on")
    warehouse: str | None = prop(None, "The warehouse that computes")
    database: str | None = prop(None, "The database")
    schema: str | None = prop(None, "The schema of names without one")
    properties: Mapping[str, str] = prop(NO_SETTINGS, "Further settings of the driver")

    @classmethod
    def _from_address(cls, address: Address) -> dict[str, str]:
        database, _, schema = address.path.partition("/")
        said = {
            "account": address.host,
            "user": address.user,
            "password": address.password,
            "database": database,
            "schema": schema,
        }
        return {key: text for key, text in said.items() if text}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BigQueryConnection(Connection):
    """Google BigQuery. Credentials come from the standard chain."""

    kind = "bigquery"
    schemes = ("bigquery",)
    requires: ClassVar[tuple[str, ...]] = ("project_id",)
    aliases: ClassVar[Mapping[str, str]] = {"project": "project_id"}

    project_id: str = prop("", "The project that pays")
    dataset: str | None = prop(None, "The dataset of names without one")
    location: str | None = prop(None, "Where jobs run: `EU`, `us-east1`")
    credentials_file: str | None = prop(None, "Instead of the standard chain")
    staging_bucket: str | None = prop(None, "A bucket for rows on their way")
    endpoint: str | None = prop(None, "A service other than Google's, as an emulator")
    properties: Mapping[str, str] = prop(NO_SETTINGS, "Further settings of the connector")

    @classmethod
    def _from_address(cls, address: Address) -> dict[str, str]:
        return {"project_id": address.host, "dataset": address.path}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RedshiftConnection(DatabaseServerConnection):
    """An Amazon Redshift cluster or workgroup."""

    kind = "redshift"
    schemes = ("redshift",)
    requires: ClassVar[tuple[str, ...]] = ("host", "database")

    host: str = prop("", "The endpoint of the cluster or workgroup")
    port: int = prop(5439, "Its port")
    database: str = prop("", "The database")
    user: str | None = prop(None, "Who logs in")
    password: str | None = prop(None, "Its password", secret=True)
    sslmode: Literal["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] = prop(
        "require", "How far the connection is encrypted and verified"
    )
    iam: bool = prop(False, "Log in by IAM, with the standard chain")
    cluster_identifier: str | None = prop(None, "The cluster, for IAM")
    workgroup: str | None = prop(None, "The serverless workgroup, for IAM")
    region: str | None = prop(None, "The region; by default that of the standard chain")
    profile: str | None = prop(None, "A profile of the standard chain")
    staging_path: str | None = prop(None, "`s3://...` for rows on their way by COPY")
    iam_role: str | None = prop(None, "The role by which Redshift reads the staged rows")
    properties: Mapping[str, str] = prop(NO_SETTINGS, "Further settings of the driver")
