"""One Kafka broker in KRaft mode, with a listener per way of securing it."""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tests.services.account import Account, write_private
from tests.services.cache import cached
from tests.services.certificates import Certificates, issue
from tests.services.home import Home
from tests.services.install import maven_jars, program, python_client
from tests.services.kafka_config import LISTENERS, Credentials, log_config, server_config
from tests.services.ports import LOOPBACK, PortPicker, accepts, free_ports, on_free_ports
from tests.services.process import await_answer, must_run, spawn, terminate
from tests.services.service import Running

POM = Path(__file__).with_name("kafka-pom.xml")
# Quick to start rather than quick in the long run: the broker serves tests for minutes.
JVM_OPTIONS = ("-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


@dataclass(frozen=True, slots=True)
class Kafka:
    home: Home
    pick_ports: PortPicker = free_ports

    name: ClassVar[str] = "kafka"

    def install(self) -> None:
        client()
        self._java()
        self._openssl()
        self._jars()

    def account(self) -> Account | None:
        return None

    def start(self, directory: Path) -> Running:
        certificates = issue(directory / "certificates", openssl=self._openssl())
        credentials = Credentials.random()
        cluster_id = _new_cluster_id()
        write_private(directory / "log4j2.properties", log_config(), None)

        def serve(ports: tuple[int, ...]) -> Running:
            named = dict(zip(LISTENERS, ports, strict=True))
            config = server_config(named, directory / "data", certificates, credentials)
            write_private(directory / "server.properties", config, None)
            self._format(directory, cluster_id, credentials)
            return self._serve(directory, named, cluster_id, certificates, credentials)

        return on_free_ports(len(LISTENERS), serve, pick=self.pick_ports)

    def is_ours(self, running: Running) -> bool:
        if not all(accepts(port) for port in running.ports.values()):
            return False
        kafka = client()
        admin = kafka.admin.AdminClient(
            # Its own word on a refused connection would land in the output of the tests.
            {"bootstrap.servers": running.facts["bootstrap_servers"], "log_level": 0}
        )
        try:
            told = admin.list_topics(timeout=5).cluster_id
        except kafka.KafkaException:
            return False
        return bool(told == running.facts["cluster_id"])

    def stop(self, running: Running) -> None:
        terminate(running.pid)

    def _format(self, directory: Path, cluster_id: str, credentials: Credentials) -> None:
        must_run(
            [
                *self._java_command(directory),
                # Formatted already when this is another try after a lost port.
                *("kafka.tools.StorageTool", "format", "--ignore-formatted"),
                *("--cluster-id", cluster_id, "--config", directory / "server.properties"),
                *credentials.scram_options(),
            ],
            directory=directory,
        )

    def _serve(
        self,
        directory: Path,
        ports: dict[str, int],
        cluster_id: str,
        certificates: Certificates,
        credentials: Credentials,
    ) -> Running:
        pid = spawn(
            [*self._java_command(directory), "kafka.Kafka", directory / "server.properties"],
            directory=directory,
        )
        running = Running(
            name=self.name,
            host=LOOPBACK,
            port=ports["plaintext"],
            ports=ports,
            data_dir=directory / "data",
            pid=pid,
            facts={
                "bootstrap_servers": f"{LOOPBACK}:{ports['plaintext']}",
                "cluster_id": cluster_id,
                "authority": str(certificates.authority),
                "client_certificate": str(certificates.client),
                "client_key": str(certificates.client_key),
                "client_chain": str(certificates.client_chain),
                **credentials.facts(),
            },
        )
        await_answer(pid, directory=directory, answers=lambda: self.is_ours(running))
        return running

    def _java_command(self, directory: Path) -> list[str | Path]:
        logging = f"-Dlog4j2.configurationFile={directory / 'log4j2.properties'}"
        return [self._java(), *JVM_OPTIONS, logging, "-cp", f"{self._jars()}/*"]

    def _jars(self) -> Path:
        # Named by the pom's content, so that an edited pom makes a new folder.
        digest = hashlib.sha256(POM.read_bytes()).hexdigest()[:12]
        return cached(self.home.installs / f"kafka-{digest}", self._fetch_jars)

    def _fetch_jars(self, into: Path) -> None:
        maven = program("mvn", packages=("maven",), stamps=self.home.installs)
        maven_jars(POM, into, maven=maven)

    def _java(self) -> Path:
        return program("java", packages=("default-jre-headless",), stamps=self.home.installs)

    def _openssl(self) -> Path:
        return program("openssl", packages=("openssl",), stamps=self.home.installs)


def client() -> Any:
    python_client("confluent_kafka.admin", "confluent-kafka")
    return python_client("confluent_kafka", "confluent-kafka")


def _new_cluster_id() -> str:
    """Sixteen random bytes the way Kafka writes them: the proof that a broker is this one."""
    drawn = base64.urlsafe_b64encode(secrets.token_bytes(16)).rstrip(b"=").decode()
    # Kafka's tools would read a leading dash as an option.
    return drawn if not drawn.startswith("-") else _new_cluster_id()
