"""Message brokers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from ematix_flow.connections.model.address import Address
from ematix_flow.connections.model.connection import Connection
from ematix_flow.connections.model.property import prop
from ematix_flow.connections.model.settings import NO_SETTINGS

TokenFunction: TypeAlias = Callable[..., object]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KafkaConnection(Connection):
    """A Kafka cluster.

    :param properties: Any further setting of the Kafka client, by its own name.
    """

    kind = "kafka"
    schemes = ("kafka",)
    requires: ClassVar[tuple[str, ...]] = ("bootstrap_servers",)
    aliases: ClassVar[Mapping[str, str]] = {"brokers": "bootstrap_servers"}
    groups = ("sasl_plain", "sasl_scram", "tls", "msk_iam")

    bootstrap_servers: str = prop("", "`host:port`, several with commas")
    group_id: str | None = prop(None, "The consumer group")
    client_id: str | None = prop(None, "How the brokers log us")
    auto_offset_reset: Literal["earliest", "latest", "none"] = prop(
        "earliest", "Where to begin without a committed offset"
    )
    schema_registry: str | None = prop(None, "The name of a schema registry's connection")
    sasl_plain_username: str | None = prop(None, "Log in by SASL/PLAIN")
    sasl_plain_password: str | None = prop(None, "Its password", secret=True)
    sasl_scram_username: str | None = prop(None, "Log in by SASL/SCRAM")
    sasl_scram_password: str | None = prop(None, "Its password", secret=True)
    sasl_scram_mechanism: Literal["SCRAM-SHA-256", "SCRAM-SHA-512"] = prop(
        "SCRAM-SHA-512", "Its mechanism"
    )
    tls: bool = prop(False, "Encrypt, and verify the brokers")
    tls_ca_file: str | None = prop(None, "File of the authority, PEM; by default the system's")
    tls_certificate_file: str | None = prop(None, "File of our certificate, PEM")
    tls_key_file: str | None = prop(None, "File of our key, PEM")
    tls_key_password: str | None = prop(None, "What opens our key", secret=True)
    tls_verify_hostname: bool = prop(True, "Compare the certificate with the host's name")
    msk_iam: bool = prop(False, "Log in to Amazon MSK by IAM, with the standard chain")
    msk_iam_region: str | None = prop(None, "The cluster's region")
    msk_iam_role_arn: str | None = prop(None, "A role to take on")
    msk_iam_profile: str | None = prop(None, "A profile of the standard chain")
    oauthbearer_token_refresh_cb: str | TokenFunction | None = prop(  # noqa: RUF009  # a field, by way of prop
        None, "A function that returns a token: itself, or `module:function`", function=True
    )
    properties: Mapping[str, str] = prop(NO_SETTINGS, "Further settings of the client")

    @classmethod
    def _from_address(cls, address: Address) -> dict[str, str]:
        port = f":{address.port}" if address.port else ""
        said = {
            "bootstrap_servers": f"{address.host}{port}",
            "sasl_plain_username": address.user,
            "sasl_plain_password": address.password,
        }
        return {key: text for key, text in said.items() if text}

    def _check(self) -> None:
        ways = self._logins()
        if len(ways) > 1:
            raise self._wrong(
                f"there is more than one way to log in: {', '.join(ways)}", hint="keep one of them"
            )
        for head in ("sasl_plain", "sasl_scram"):
            user, password = (getattr(self, f"{head}_{each}") for each in ("username", "password"))
            if (user is None) != (password is None):
                missing = "password" if password is None else "username"
                raise self._wrong(f"{head} lacks {head}_{missing}")

    def _logins(self) -> list[str]:
        given = {
            "sasl_plain": self.sasl_plain_username or self.sasl_plain_password,
            "sasl_scram": self.sasl_scram_username or self.sasl_scram_password,
            "msk_iam": self.msk_iam,
            "oauthbearer_token_refresh_cb": self.oauthbearer_token_refresh_cb,
        }
        return [way for way, value in given.items() if value]

    @property
    def security_protocol(self) -> str:
        """How the brokers are spoken to: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL."""
        # MSK takes IAM logins over TLS only.
        transport = "SSL" if self.tls or self.msk_iam else "PLAINTEXT"
        return f"SASL_{transport}" if self._logins() else transport


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RabbitMQConnection(Connection):
    """A RabbitMQ broker (AMQP 0.9.1)."""

    kind = "rabbitmq"
    schemes = ("amqp", "amqps", "rabbitmq")
    aliases: ClassVar[Mapping[str, str]] = {
        "amqp_url": "url",
        "username": "user",
        "vhost": "virtual_host",
    }
    groups = ("tls",)

    host: str = prop("localhost", "The broker")
    port: int | None = prop(None, "Its port; by default 5672, with TLS 5671")
    virtual_host: str = prop("/", "The virtual host")
    user: str | None = prop(None, "Who logs in")
    password: str | None = prop(None, "Its password", secret=True)
    tls: bool = prop(False, "Encrypt, and verify the broker")
    tls_ca_file: str | None = prop(None, "File of the authority, PEM; by default the system's")
    tls_certificate_file: str | None = prop(None, "File of our certificate, PEM")
    tls_key_file: str | None = prop(None, "File of our key, PEM")
    tls_key_password: str | None = prop(None, "What opens our key", secret=True)
    consumer_tag: str | None = prop(None, "How the broker lists us")
    prefetch: int = prop(1000, "How many unacknowledged messages may be on their way")
    heartbeat: int = prop(60, "Seconds between signs of life")
    properties: Mapping[str, str] = prop(NO_SETTINGS, "Further settings of the client")

    @classmethod
    def _from_address(cls, address: Address) -> dict[str, str]:
        said = {
            "host": address.host,
            "port": address.port,
            "virtual_host": address.path,
            "user": address.user,
            "password": address.password,
            "tls": "true" if address.scheme == "amqps" else None,
        }
        return {key: text for key, text in said.items() if text}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PubSubConnection(Connection):
    """Google Cloud Pub/Sub. Credentials come from the standard chain."""

    kind = "pubsub"
    schemes = ("pubsub",)
    requires: ClassVar[tuple[str, ...]] = ("project_id",)
    aliases: ClassVar[Mapping[str, str]] = {"project": "project_id"}

    project_id: str = prop("", "The project")
    endpoint: str | None = prop(None, "A service other than Google's, as an emulator")
    anonymous_auth: bool = prop(False, "Do not log in; for an emulator")
    credentials_file: str | None = prop(None, "Instead of the standard chain")
    properties: Mapping[str, str] = prop(NO_SETTINGS, "Further settings of the client")

    @classmethod
    def _from_address(cls, address: Address) -> dict[str, str]:
        return {"project_id": address.host}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KinesisConnection(Connection):
    """Amazon Kinesis Data Streams. Credentials come from the standard chain."""

    kind = "kinesis"
    schemes = ("kinesis",)

    stream_name: str | None = prop(None, "The stream, where a pipeline does not name one")
    region: str | None = prop(None, "The region; by default that of the standard chain")
    endpoint: str | None = prop(None, "A service other than Amazon's: `http://host:port`")
    profile: str | None = prop(None, "A profile of the standard chain")
    role_arn: str | None = prop(None, "A role to take on")
    access_key_id: str | None = prop(None, "Instead of the standard chain", secret=True)
    secret_access_key: str | None = prop(None, "Instead of the standard chain", secret=True)
    session_token: str | None = prop(None, "Instead of the standard chain", secret=True)
    properties: Mapping[str, str] = prop(NO_SETTINGS, "Further settings of the client")

    @classmethod
    def _from_address(cls, address: Address) -> dict[str, str]:
        return {"stream_name": address.host}
