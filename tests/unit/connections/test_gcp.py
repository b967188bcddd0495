"""`${gcp:name}`, against a gRPC server that implements the published service."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from ematix_flow._base.redact import redact
from ematix_flow.connections.secrets import SecretResolver
from ematix_flow.errors import ConfigError

secretmanager = pytest.importorskip(
    "google.cloud.secretmanager_v1", reason="the extra gcp is not installed"
)
grpc = pytest.importorskip("grpc")

SECRETS = {
    "projects/shop/secrets/db/versions/latest": b"gcp-latest-secret",
    "projects/shop/secrets/db/versions/3": b"gcp-third-secret",
    "projects/other/secrets/db/versions/latest": b"gcp-other-secret",
    "projects/shop/secrets/image/versions/latest": b"\xff\x00",
}


def access(request, context):
    """The one method of google.cloud.secretmanager.v1.SecretManagerService that is asked."""
    if request.name not in SECRETS:
        context.abort(grpc.StatusCode.NOT_FOUND, f"Secret [{request.name}] not found.")
    answer = secretmanager.AccessSecretVersionResponse(name=request.name)
    answer.payload.data = SECRETS[request.name]
    return answer


@pytest.fixture(scope="module")
def host():
    kinds = secretmanager.AccessSecretVersionRequest, secretmanager.AccessSecretVersionResponse
    method = grpc.unary_unary_rpc_method_handler(
        access, request_deserializer=kinds[0].deserialize, response_serializer=kinds[1].serialize
    )
    server = grpc.server(ThreadPoolExecutor(2))
    service = "google.cloud.secretmanager.v1.SecretManagerService"
    handlers = {"AccessSecretVersion": method}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None).wait()


def resolver(host, **environ):
    found = {"SECRET_MANAGER_EMULATOR_HOST": host, "GOOGLE_CLOUD_PROJECT": "shop", **environ}
    return SecretResolver(environ=found)


@pytest.mark.proves("secrets-late")
@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("db", "gcp-latest-secret"),
        ("db#3", "gcp-third-secret"),
        ("projects/shop/secrets/db", "gcp-latest-secret"),
        ("projects/other/secrets/db", "gcp-other-secret"),
        ("projects/shop/secrets/db/versions/3", "gcp-third-secret"),
    ],
)
def test_short_and_full_names(host, reference, value):
    assert resolver(host).expand(f"<${{gcp:{reference}}}>") == f"<{value}>"
    assert redact(f"x {value} x") == "x *** x"


def test_where_it_came_from(host):
    assert resolver(host).fetch("gcp:db").source == (
        "Google Secret Manager, projects/shop/secrets/db/versions/latest"
    )


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("nosuch", "is refused by Google: NotFound: Secret [projects/shop/secrets/nosuch"),
        ("image", "is binary, not text"),
    ],
)
def test_what_is_not_there(host, reference, expected):
    with pytest.raises(ConfigError) as caught:
        resolver(host).expand(f"${{gcp:{reference}}}")
    assert f"${{gcp:{reference}}} {expected}" in str(caught.value)


def test_a_short_name_needs_a_project(host):
    secrets = SecretResolver(environ={"SECRET_MANAGER_EMULATOR_HOST": host})
    with pytest.raises(ConfigError) as caught:
        secrets.expand("${gcp:db}")
    assert "GOOGLE_CLOUD_PROJECT is not set" in str(caught.value)
    assert "${gcp:projects/PROJECT/secrets/db}" in str(caught.value)


def test_a_server_that_does_not_answer_is_not_asked_for_ever(monkeypatch):
    monkeypatch.setattr("ematix_flow.connections.resolvers.gcp._SECONDS", 0.5)
    environ = {"GOOGLE_CLOUD_PROJECT": "shop", "SECRET_MANAGER_EMULATOR_HOST": "127.0.0.1:1"}
    with pytest.raises(ConfigError) as caught:
        SecretResolver(environ=environ).expand("${gcp:db}")
    assert "Google" in str(caught.value)
