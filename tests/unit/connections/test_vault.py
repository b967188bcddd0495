"""`${vault:path#key}`, against a server that speaks Vault's API."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ematix_flow._base.redact import redact
from ematix_flow.connections.model import PostgresConnection
from ematix_flow.connections.secrets import SecretResolver
from ematix_flow.errors import ConfigError
from tests.unit.connections import vault_server
from tests.unit.connections.vault_server import TOKEN

pytest.importorskip("hvac", reason="the extra vault is not installed")


@pytest.fixture(scope="module", params=["documented API", "real server"])
def vault(request, tmp_path_factory):
    if request.param == "documented API":
        with vault_server.stand_in() as address:
            yield address
        return
    program = vault_server.binary()
    if program is None:
        pytest.skip("neither vault nor bao is on PATH")
    with vault_server.real(program, tmp_path_factory.mktemp("vault") / "log") as address:
        yield address


def resolver(address, **environ):
    return SecretResolver(environ={"VAULT_ADDR": address, "VAULT_TOKEN": TOKEN, **environ})


@pytest.mark.proves("secrets-late")
@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("secret/shop/db#password", "vault-two-secret"),
        ("secret/data/shop/db#password", "vault-two-secret"),
        ("secret/shop/db#port", "5432"),
        ("secret/one", "alone-in-two"),
        ("kv1/old/db#password", "vault-one-secret"),
        ("kv1/old/db", "vault-one-secret"),
    ],
)
def test_both_versions_of_the_engine(vault, reference, value):
    assert resolver(vault).expand(f"<${{vault:{reference}}}>") == f"<{value}>"
    assert redact(f"x {value} x") == "x *** x"
    assert redact(TOKEN) == "***"


@pytest.mark.proves("secrets-late")
def test_a_connection_logs_in_with_it(vault):
    made = PostgresConnection(name="w", database="d", password="${vault:secret/shop/db#password}")
    assert made.resolved(resolver(vault)).password == "vault-two-secret"
    assert "vault-two-secret" not in repr(made)


def test_where_it_came_from(vault):
    secret = resolver(vault).fetch("vault:secret/shop/db#password")
    assert secret.source == f"Vault {vault}, secret/shop/db (KV version 2)"
    assert "vault-two-secret" not in repr(secret)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("secret/shop/none#x", "is not there: "),
        ("secret/shop/db#pasword", "has no key 'pasword' (it has: password, port)"),
        ("secret/shop/db", "needs a key (it has: password, port)"),
    ],
)
def test_what_is_not_there(vault, reference, expected):
    with pytest.raises(ConfigError) as caught:
        resolver(vault).expand(f"${{vault:{reference}}}")
    assert f"${{vault:{reference}}} {expected}" in str(caught.value)
    assert "vault-two-secret" not in str(caught.value)


def test_a_wrong_token(vault):
    with pytest.raises(ConfigError, match=r"is refused: .* does not let this token read"):
        resolver(vault, VAULT_TOKEN="another-token").expand("${vault:secret/shop/db#password}")


def test_the_token_of_the_command_line(vault, tmp_path):
    (tmp_path / ".vault-token").write_text(f"{TOKEN}\n")
    environ = {"VAULT_ADDR": vault, "HOME": str(tmp_path)}
    found = SecretResolver(environ=environ).expand("${vault:secret/shop/db#password}")
    assert found == "vault-two-secret"
    with pytest.raises(ConfigError, match="needs a token for Vault"):
        SecretResolver(environ={**environ, "HOME": str(tmp_path / "none")}).expand("${vault:a/b#c}")


def test_no_server():
    with pytest.raises(ConfigError, match=r"http://127\.0\.0\.1:1 does not answer"):
        resolver("http://127.0.0.1:1").expand("${vault:secret/shop/db#password}")


def test_a_secret_is_asked_for_once():
    with vault_server.stand_in() as address:
        secrets = resolver(address)
        for _ in range(3):
            secrets.expand("${vault:secret/shop/db#password}${vault:secret/shop/db#password}")
        asked = [path for path in vault_server._StandIn.asked if "data" in path]
        assert asked == ["/v1/secret/data/shop/db"]


def test_an_application_logs_in_by_its_role():
    with vault_server.stand_in() as address:
        environ = {"VAULT_ADDR": address, "VAULT_ROLE_ID": "flow", "VAULT_SECRET_ID": "role-secret"}
        secrets = SecretResolver(environ=environ)
        assert secrets.expand("${vault:kv1/old/db}") == "vault-one-secret"
        assert redact("role-secret") == "***"
        wrong = SecretResolver(environ={**environ, "VAULT_SECRET_ID": "wrong-secret"})
        with pytest.raises(
            ConfigError, match="InvalidRequest: invalid role or secret ID"
        ) as caught:
            wrong.expand("${vault:kv1/old/db}")
        assert "wrong-secret" not in str(caught.value)


def test_a_policy_may_hide_the_mounts():
    with vault_server.stand_in() as address:
        secret = resolver(address).fetch("vault:hidden/old/db#password")
    assert secret.value == "vault-one-secret"
    assert secret.source == f"Vault {address}, hidden/old/db (KV version 1)"


class Page(BaseHTTPRequestHandler):
    """A proxy's page where Vault should be."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>Please log in</html>")

    def do_POST(self):
        self.do_GET()

    def log_message(self, *_):
        pass


@pytest.mark.parametrize(
    "login", [{"VAULT_TOKEN": "page-token"}, {"VAULT_ROLE_ID": "r", "VAULT_SECRET_ID": "page-id"}]
)
def test_something_else_answers(login):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        environ = {"VAULT_ADDR": f"http://127.0.0.1:{server.server_port}", **login}
        with pytest.raises(ConfigError, match="is not a Vault server"):
            SecretResolver(environ=environ).expand("${vault:secret/db#password}")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
