"""Reaching what a connection names, by a backend or by plain means."""

import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from ematix_flow.connections.check import check_connection
from ematix_flow.connections.load import Connections
from ematix_flow.connections.model import Connection
from ematix_flow.errors import SourceError
from ematix_flow.observe.check import Health


def check(tmp_path, config, *, environ=None, probes=None):
    made = Connection.from_config("c", config)
    found = Connections(
        declared={"c": made},
        configured={},
        configured_in="ematix-flow.toml",
        environ=environ or {},
        base=tmp_path,
        home=tmp_path,
    )
    return check_connection("c", found, probes or {})


@contextmanager
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def server_config(kind, port):
    return {
        "kafka": {"bootstrap_servers": f"127.0.0.1:1, 127.0.0.1:{port}"},
        "rabbitmq": {"host": "127.0.0.1", "port": port},
        "mysql": {"host": "127.0.0.1", "port": port, "database": "d"},
        "redshift": {"host": "127.0.0.1", "port": port, "database": "d"},
        "kinesis": {"endpoint": f"http://127.0.0.1:{port}"},
        "s3": {"bucket": "b", "endpoint": f"http://127.0.0.1:{port}"},
        "pubsub": {"project_id": "p", "endpoint": f"127.0.0.1:{port}"},
        "glue_schema_registry": {"endpoint": f"http://127.0.0.1:{port}"},
    }[kind] | {"kind": kind}


SERVERS = ["kafka", "rabbitmq", "mysql", "redshift", "kinesis", "s3", "pubsub"]


@pytest.mark.parametrize("kind", [*SERVERS, "glue_schema_registry"])
def test_a_server_answers_or_not(tmp_path, kind):
    with listening() as port:
        found = check(tmp_path, server_config(kind, port))
    assert found.health is Health.NOTE
    assert found.finding == (
        f"{kind}: 127.0.0.1:{port} answers; model only: reading and writing kind {kind!r} "
        "comes later"
    )
    found = check(tmp_path, server_config(kind, 1))
    assert found.health is Health.PROBLEM
    assert found.finding == "127.0.0.1:1 does not answer: Connection refused"


def test_a_broker_that_is_no_place(tmp_path):
    found = check(tmp_path, {"kind": "kafka", "bootstrap_servers": "host:port"})
    assert (found.health, found.finding) == (Health.PROBLEM, "'host:port' is not host:port")


@pytest.mark.parametrize(
    "config",
    [
        {"kind": "bigquery", "project_id": "p"},
        {"kind": "jsonl", "path": "gs://bucket/in"},
        {"kind": "iceberg", "catalog_type": "glue"},
    ],
)
def test_what_plain_means_cannot_reach(tmp_path, config):
    found = check(tmp_path, config)
    assert found.health is Health.NOTE
    assert f"{config['kind']}: its secrets resolve; it was not reached; model" in found.finding


def test_files(tmp_path):
    (tmp_path / "in").mkdir()
    found = check(tmp_path, {"kind": "jsonl", "path": "in"})
    assert (found.health, found.finding) == (
        Health.NOTE,
        f"jsonl: folder {tmp_path / 'in'}; "
        "model only: reading and writing kind 'jsonl' comes later",
    )
    found = check(tmp_path, {"kind": "jsonl", "path": "in"}, probes={"jsonl": str})
    assert (found.health, found.finding) == (Health.OK, f"jsonl: folder {tmp_path / 'in'}")
    found = check(tmp_path, {"kind": "orc", "path": "none"})
    assert (found.health, found.finding) == (
        Health.PROBLEM,
        f"there is no {str(tmp_path / 'none')!r}",
    )
    assert check(tmp_path, {"kind": "memory"}).finding.startswith("memory: in memory; model only")


class Registry(BaseHTTPRequestHandler):
    def do_GET(self):
        allowed = self.headers.get("Authorization") == "Basic YXBwOnJlZ2lzdHJ5LXNlY3JldA=="
        self.send_response(200 if allowed and self.path == "/subjects" else 401)
        self.end_headers()

    def log_message(self, *_):
        pass


def test_a_schema_registry_is_asked(tmp_path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        config = {
            "kind": "schema_registry",
            "url": f"http://app:${{REGISTRY_PW}}@127.0.0.1:{server.server_port}",
        }
        found = check(tmp_path, config, environ={"REGISTRY_PW": "registry-secret"})
        assert f":{server.server_port}/subjects answers 200; model only" in found.finding
        found = check(tmp_path, config, environ={"REGISTRY_PW": "wrong-secret"})
        assert found.health is Health.PROBLEM
        assert "answers 401" in found.finding
        assert "wrong-secret" not in found.finding
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    found = check(tmp_path, {"kind": "schema_registry", "url": "http://127.0.0.1:1"})
    assert "does not answer" in found.finding


class Redirecting(BaseHTTPRequestHandler):
    """Sends everyone to the server of `elsewhere`."""

    elsewhere = ""

    def do_GET(self):
        self.send_response(302)
        self.send_header("Location", self.elsewhere)
        self.end_headers()

    def log_message(self, *_):
        pass


class Listening(BaseHTTPRequestHandler):
    """Keeps what it is told."""

    heard: ClassVar[list[str | None]] = []

    def do_GET(self):
        self.heard.append(self.headers.get("Authorization"))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def serving(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_login_is_not_handed_to_whom_a_registry_redirects(tmp_path):
    with serving(Listening) as there, serving(Redirecting) as here:
        Redirecting.elsewhere = f"http://127.0.0.1:{there}/"
        config = {
            "kind": "schema_registry",
            "url": f"http://127.0.0.1:{here}",
            "bearer_token": "${REGISTRY_TOKEN}",
        }
        check(tmp_path, config, environ={"REGISTRY_TOKEN": "redirected-token"})
    assert Listening.heard == [None]


@pytest.mark.slow
def test_a_registry_that_accepts_and_says_nothing(tmp_path):
    with listening() as port:
        config = {"kind": "schema_registry", "url": f"http://127.0.0.1:{port}", "timeout": 1}
        assert "does not answer: timed out" in check(tmp_path, config).finding


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"kind": "mysql", "database": "d", "host": "a..b"}, "a..b:3306 is not a host and a port"),
        ({"kind": "kinesis", "endpoint": "http://h:99x"}, "'http://h:99x' is not an address"),
        (
            {"kind": "schema_registry", "url": "http://127.0.0.1:1", "bearer_token": "${T}"},
            "its login holds characters that HTTP does not carry",
        ),
    ],
)
def test_addresses_and_logins_that_cannot_be(tmp_path, config, expected):
    found = check(tmp_path, config, environ={"T": "first-line\nsecond-line"})
    assert found.health is Health.PROBLEM
    assert expected in found.finding
    assert "second-line" not in found.finding


def test_a_backend_opens_what_it_knows(tmp_path):
    config = {"kind": "sqlite", "path": "${FILE}"}
    environ = {"FILE": "in.db"}
    found = check(tmp_path, config, environ=environ, probes={"sqlite": lambda each: each.path})
    assert (found.health, found.finding) == (Health.OK, "sqlite: in.db")

    def fails(_):
        raise SourceError("it is broken", hint="mend it")

    found = check(tmp_path, config, environ=environ, probes={"sqlite": fails})
    assert (found.health, found.finding, found.hint) == (
        Health.PROBLEM,
        "it is broken",
        "mend it",
    )


def test_a_secret_that_does_not_resolve(tmp_path):
    found = check(tmp_path, {"kind": "csv", "path": "${NOT_SET_HERE}"})
    assert found.health is Health.PROBLEM
    assert "NOT_SET_HERE is not set" in found.finding
    assert found.hint is not None
