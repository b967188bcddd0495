"""The broker's configuration: what each listener demands of a client."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.services.certificates import Certificates
from tests.services.ports import LOOPBACK

# Listener -> protocol. The name is the key in `Running.ports`.
LISTENERS: Mapping[str, str] = {
    "plaintext": "PLAINTEXT",
    "controller": "PLAINTEXT",
    "sasl": "SASL_PLAINTEXT",
    "tls": "SSL",
    "mtls": "SSL",
    "sasl_tls": "SASL_SSL",
}
SASL_LISTENERS = ("sasl", "sasl_tls")
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """One user per SASL mechanism, so that a test proves which mechanism let it in."""

    plain_user: str = "plain"
    plain_password: str
    scram_256_user: str = "scram-256"
    scram_256_password: str
    scram_512_user: str = "scram-512"
    scram_512_password: str

    @classmethod
    def random(cls) -> Credentials:
        return cls(
            plain_password=secrets.token_hex(16),
            scram_256_password=secrets.token_hex(16),
            scram_512_password=secrets.token_hex(16),
        )

    def scram_options(self) -> list[str]:
        """Users that the broker knows from its first moment, as `StorageTool format` takes them."""
        users = (
            ("SCRAM-SHA-256", self.scram_256_user, self.scram_256_password),
            ("SCRAM-SHA-512", self.scram_512_user, self.scram_512_password),
        )
        return [
            word
            for mechanism, user, password in users
            for word in ("--add-scram", f"{mechanism}=[name={user},password={password}]")
        ]

    def facts(self) -> dict[str, str]:
        return {
            "plain_user": self.plain_user,
            "plain_password": self.plain_password,
            "scram_256_user": self.scram_256_user,
            "scram_256_password": self.scram_256_password,
            "scram_512_user": self.scram_512_user,
            "scram_512_password": self.scram_512_password,
        }


def server_config(
    ports: Mapping[str, int], data: Path, certificates: Certificates, credentials: Credentials
) -> str:
    """The text of server.properties."""
    addresses = {name: f"{name.upper()}://{LOOPBACK}:{port}" for name, port in ports.items()}
    protocols = ",".join(f"{name.upper()}:{protocol}" for name, protocol in LISTENERS.items())
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{LOOPBACK}:{ports['controller']}",
        "controller.listener.names": "CONTROLLER",
        "listeners": ",".join(addresses.values()),
        "advertised.listeners": ",".join(
            address for name, address in addresses.items() if name != "controller"
        ),
        "listener.security.protocol.map": protocols,
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(data),
        **_sasl(credentials),
        **_tls(certificates),
        **_single_broker(),
    }
    return "".join(f"{key}={value}\n" for key, value in settings.items())


def log_config() -> str:
    return (
        "rootLogger.level=warn\n"
        "rootLogger.appenderRef.console.ref=console\n"
        "appender.console.type=Console\n"
        "appender.console.name=console\n"
        "appender.console.layout.type=PatternLayout\n"
        "appender.console.layout.pattern=%d %p %c %m%n\n"
    )


def _sasl(credentials: Credentials) -> dict[str, str]:
    plain = f'{PLAIN_MODULE} required user_{credentials.plain_user}="{credentials.plain_password}";'
    modules = {
        "plain": plain,
        "scram-sha-256": f"{SCRAM_MODULE} required;",
        "scram-sha-512": f"{SCRAM_MODULE} required;",
    }
    settings = {"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"}
    for listener in SASL_LISTENERS:
        for mechanism, module in modules.items():
            settings[f"listener.name.{listener}.{mechanism}.sasl.jaas.config"] = module
    return settings


def _tls(certificates: Certificates) -> dict[str, str]:
    # PEM, which Kafka reads itself: no keytool, no keystore passwords.
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificates.server_chain),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificates.authority),
        "listener.name.mtls.ssl.client.auth": "required",
    }


def _single_broker() -> dict[str, str]:
    """Defaults meant for three brokers would wait for ever for the other two."""
    return {
        "num.partitions": "1",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
    }
