"""`${aws:name#field}`, against moto's server."""

import pytest

from ematix_flow._base.redact import redact
from ematix_flow.connections.secrets import SecretResolver
from ematix_flow.errors import ConfigError

boto3 = pytest.importorskip("boto3", reason="the extra aws is not installed")
moto_server = pytest.importorskip("moto.server", reason="moto is not installed")

pytestmark = pytest.mark.filterwarnings("ignore:datetime.datetime.utc:DeprecationWarning")


@pytest.fixture(scope="module")
def server():
    started = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    started.start()
    host, port = started.get_host_and_port()
    yield f"http://{host}:{port}"
    started.stop()


@pytest.fixture(autouse=True)
def chain(server, monkeypatch):
    """The standard chain, as far as it is environment variables."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")


@pytest.fixture(scope="module")
def secrets(server):
    client = boto3.client(
        "secretsmanager",
        endpoint_url=server,
        region_name="eu-west-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    client.create_secret(Name="plain", SecretString="aws-plain-secret")
    client.create_secret(Name="bytes", SecretBinary=b"aws-bytes-secret")
    client.create_secret(Name="image", SecretBinary=b"\xff\x00")
    made = client.create_secret(
        Name="shop/db", SecretString='{"password": "aws-json-secret", "n": 7}'
    )
    client.close()
    return made["ARN"]


@pytest.mark.proves("secrets-late")
@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("plain", "aws-plain-secret"),
        ("bytes", "aws-bytes-secret"),
        ("shop/db#password", "aws-json-secret"),
        ("shop/db#n", "7"),
        ("shop/db", '{"password": "aws-json-secret", "n": 7}'),
    ],
)
@pytest.mark.usefixtures("secrets")
def test_secrets(reference, value):
    resolver = SecretResolver(environ={})
    assert resolver.expand(f"${{aws:{reference}}}") == value
    if len(value) > 1:
        assert redact(f"x {value} x") == "x *** x"
    assert resolver.fetch(f"aws:{reference}").source == (
        f"AWS Secrets Manager eu-west-1, {reference.partition('#')[0]}"
    )


def test_a_full_name_says_its_region(secrets, monkeypatch):
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    found = SecretResolver(environ={}).expand(f"${{aws:{secrets}#password}}")
    assert found == "aws-json-secret"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("nosuch", "is refused by AWS: ResourceNotFoundException"),
        ("shop/db#pasword", "has no key 'pasword' (it has: n, password)"),
        ("plain#field", "names a field, but the secret is not a JSON object"),
        ("image", "is binary, not text"),
    ],
)
@pytest.mark.usefixtures("secrets")
def test_what_is_not_there(reference, expected):
    with pytest.raises(ConfigError) as caught:
        SecretResolver(environ={}).expand(f"${{aws:{reference}}}")
    assert f"${{aws:{reference}}} {expected}" in str(caught.value)
    assert "aws-plain-secret" not in str(caught.value)


def test_no_server(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(ConfigError, match="cannot be fetched from AWS: Could not connect"):
        SecretResolver(environ={}).expand("${aws:plain}")


def test_no_region(monkeypatch, tmp_path):
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(ConfigError, match=r"You must specify a region.*\n.*set AWS_REGION"):
        SecretResolver(environ={}).expand("${aws:plain}")


@pytest.mark.usefixtures("secrets")
def test_the_region_of_the_hint_is_the_region_that_is_read(monkeypatch):
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    found = SecretResolver(environ={"AWS_REGION": "eu-west-1"}).fetch("aws:plain")
    assert found.source == "AWS Secrets Manager eu-west-1, plain"


def test_a_name_that_only_begins_like_an_arn():
    with pytest.raises(ConfigError, match="is refused by AWS"):
        SecretResolver(environ={}).expand("${aws:arn:aws}")
