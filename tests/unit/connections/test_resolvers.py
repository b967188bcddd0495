"""Resolving references: which resolver is asked, and what it never tells."""

import sys

import pytest

from ematix_flow._base.redact import redact
from ematix_flow.connections.audit import audit
from ematix_flow.connections.load import Connections
from ematix_flow.connections.model import KafkaConnection, PostgresConnection
from ematix_flow.connections.resolvers import find
from ematix_flow.connections.secrets import SecretResolver
from ematix_flow.errors import ConfigError, UnknownName


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("VAR", ("", "VAR")),
        ("VAR:-x", ("", "VAR:-x")),
        ("VAR:-", ("", "VAR:-")),
        ("VAR:-a:b", ("", "VAR:-a:b")),
        ("file:a/b:c", ("file", "a/b:c")),
        ("vault:a/b#c", ("vault", "a/b#c")),
        ("aws:arn:aws:x", ("aws", "arn:aws:x")),
    ],
)
def test_prefixes(body, parts):
    assert find.split(body) == parts


def test_an_unknown_prefix():
    with pytest.raises(UnknownName) as caught:
        SecretResolver(environ={}).expand("${valt:a#b}")
    assert "unknown kind of secret reference 'valt'; did you mean 'vault'?" in str(caught.value)
    assert "ematix_flow.secret_resolvers" in str(caught.value)


@pytest.mark.parametrize(
    ("prefix", "package", "blocked"),
    [
        ("vault", "hvac", "hvac"),
        ("aws", "boto3", "boto3"),
        ("gcp", "google-cloud-secret-manager", "google.cloud"),
    ],
)
def test_a_missing_package_names_its_extra(monkeypatch, prefix, package, blocked):
    for name in [*(each for each in sys.modules if each.startswith(blocked)), blocked]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigError) as caught:
        SecretResolver(environ={"GOOGLE_CLOUD_PROJECT": "p"}).expand(f"${{{prefix}:a#b}}")
    assert str(caught.value) == (
        f"${{{prefix}:a#b}} needs the package {package}, which is not installed\n"
        f"Hint: pip install 'ematix-flow[{prefix}]'"
    )


THEIRS = """
from ematix_flow.connections.resolvers.port import Secret

class Keyring:
    def __init__(self, context):
        self.context = context
        self.calls = 0

    def fetch(self, reference):
        return Secret(value="keyring-secret-" + reference, source="the keyring")
"""


@pytest.mark.proves("secrets-late")
def test_a_third_party_adds_a_resolver_by_entry_point(tmp_path, monkeypatch):
    (tmp_path / "their_keyring.py").write_text(THEIRS)
    info = tmp_path / "their_keyring-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-keyring\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[ematix_flow.secret_resolvers]\nkeyring = their_keyring:Keyring\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    find._theirs.cache_clear()
    try:
        assert SecretResolver(environ={}).expand("${keyring:shop}") == "keyring-secret-shop"
        assert redact("keyring-secret-shop") == "***"
    finally:
        find._theirs.cache_clear()


def test_a_file_that_is_not_text(tmp_path):
    (tmp_path / "key").write_bytes(b"secret-bytes\xff")
    with pytest.raises(ConfigError) as caught:
        SecretResolver(environ={}, base=tmp_path).expand("${file:key}")
    assert "is not UTF-8 text" in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def registry(tmp_path, environ, *declared):
    return Connections(
        declared={each.name: each for each in declared},
        configured={"broken": {"kind": "postgres"}},
        configured_in="ematix-flow.toml",
        environ=environ,
        base=tmp_path,
        home=tmp_path,
    )


@pytest.mark.proves("no-secret")
def test_the_audit_tells_every_reference_and_no_value(tmp_path):
    (tmp_path / "pw").write_text("audit-file-secret")
    found = registry(
        tmp_path,
        {"HOST": "audit-db-host", "PW": "audit-secret"},
        PostgresConnection(name="w", host="${HOST}", database="d", password="${PW}"),
        KafkaConnection(
            name="k",
            bootstrap_servers="${SERVERS}",
            properties={"ssl.key.password": "${file:pw}", "a": "${A:-audit-default}"},
        ),
    )
    told = audit(found)
    assert [(each.connection, each.key, each.reference, each.ok) for each in told] == [
        ("broken", "", "", False),
        ("k", "bootstrap_servers", "${SERVERS}", False),
        ("k", "properties.a", "${A:-***}", True),
        ("k", "properties.ssl.key.password", "${file:pw}", True),
        ("w", "host", "${HOST}", True),
        ("w", "password", "${PW}", True),
    ]
    assert told[-1].source == "environment variable PW"
    assert told[3].source == f"file {tmp_path / 'pw'}"
    everything = str([each.to_json() for each in told])
    for value in ("audit-secret", "audit-file-secret", "audit-default", "audit-db-host"):
        assert value not in everything
    assert audit(found, ["w"]) == told[-2:]
    with pytest.raises(UnknownName):
        audit(found, ["nosuch"])


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("${file:a\0b}", "cannot be read: embedded null byte"),
        ("${file:~no-such-user/b}", "begins with the home of a user who is not known here"),
    ],
)
def test_paths_that_no_file_can_have(tmp_path, reference, expected):
    with pytest.raises(ConfigError) as caught:
        SecretResolver(environ={}, base=tmp_path).expand(reference)
    assert expected in str(caught.value)
