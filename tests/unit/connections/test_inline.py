"""The warning about secrets that are written out."""

import os
import subprocess
import sys
import warnings

import pytest

from ematix_flow._base.redact import register_secret
from ematix_flow.connections.inline import ALLOW, InlineCredentialWarning
from ematix_flow.connections.load import Connections
from ematix_flow.connections.model import Connection, PostgresConnection

SECRET = "not-to-be-seen-4711"


def warned(caught):
    return [str(each.message) for each in caught if each.category is InlineCredentialWarning]


def test_it_names_the_connection_the_property_the_place_and_what_to_write():
    with pytest.warns(InlineCredentialWarning) as caught:
        PostgresConnection(name="ware-house", database="d", password=SECRET)
    [told] = warned(caught)
    assert told.startswith("connection 'ware-house': password is written out in ")
    assert "test_inline.py:" in told
    assert 'write password = "${WARE_HOUSE_PASSWORD}"' in told
    assert f"{ALLOW}=1 silences" in told
    assert SECRET not in told


def test_a_default_in_a_reference_is_written_out_too():
    with pytest.warns(InlineCredentialWarning) as caught:
        made = PostgresConnection(name="w", database="d", password=f"${{PW:-{SECRET}}}")
    assert SECRET not in "".join(warned(caught))
    assert "password='${PW:-***}'" in repr(made)


@pytest.mark.parametrize("password", [None, "${PW}", "${vault:db#pw}", "${PW:-}"])
def test_references_do_not_warn(password):
    PostgresConnection(name="w", database="d", password=password)  # warnings are errors here


def test_a_variable_silences_it(monkeypatch):
    monkeypatch.setenv(ALLOW, "1")
    PostgresConnection(name="w", database="d", password=SECRET)


def registry(tmp_path, **places):
    return Connections(
        **{
            "declared": {},
            "configured": {},
            "configured_in": str(tmp_path / "ematix-flow.toml"),
            "environ": {},
            "base": tmp_path,
            "home": tmp_path,
            **places,
        }
    )


def test_toml_warns_when_the_project_is_opened(tmp_path):
    config = {"kind": "postgres", "database": "d", "password": SECRET}
    found = registry(tmp_path, configured={"w": config})
    with pytest.warns(InlineCredentialWarning, match=r"password is written out in .*-flow\.toml"):
        found.register_secrets()


def test_the_environment_does_not_warn(tmp_path):
    environ = {
        "EMATIX_FLOW_DSN_A": f"postgres://app:{SECRET}@db/shop",
        "EMATIX_FLOW_POSTGRES_B_DATABASE": "d",
        "EMATIX_FLOW_POSTGRES_B_PASSWORD": SECRET,
    }
    found = registry(tmp_path, environ=environ)
    found.register_secrets()
    assert found["a"].password == found["b"].password == SECRET
    assert SECRET not in repr(found["a"])


def test_resolving_does_not_warn(tmp_path):
    declared = {"w": PostgresConnection(name="w", database="d", password="${PW}")}
    found = registry(tmp_path, declared=declared, environ={"PW": SECRET})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found.resolved("w").password == SECRET


def test_in_a_script_it_is_told_once_at_the_users_line(tmp_path):
    script = tmp_path / "declares.py"
    script.write_text(
        "from ematix_flow.connections.model import PostgresConnection\n"
        "for _ in range(3):\n"
        f"    PostgresConnection(name='w', database='d', password={SECRET!r})\n"
    )
    environ = {key: value for key, value in os.environ.items() if key != ALLOW}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, env=environ
    )
    assert f"{script}:3:0: InlineCredentialWarning: connection 'w': password" in done.stderr
    assert done.stderr.count("InlineCredentialWarning") == 1
    assert SECRET not in done.stderr  # not even as the line of the script


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"kind": "kinesis", "endpoint": f"http://app:{SECRET}@h"}, "endpoint"),
        (
            {"kind": "iceberg", "catalog_type": "jdbc", "uri": f"jdbc:x://h/d?password={SECRET}"},
            "uri",
        ),
        ({"kind": "parquet", "path": f"s3://key:{SECRET}@bucket/in"}, "path"),
    ],
)
def test_a_login_inside_of_another_property_warns_too(config, expected):
    with pytest.warns(InlineCredentialWarning) as caught:
        made = Connection.from_config("c", config)
    assert f"connection 'c': {expected} is written out" in warned(caught)[0]
    assert SECRET not in repr(made) + warned(caught)[0]


def test_what_only_equals_a_known_secret_does_not_warn():
    register_secret("same-as-the-user")
    PostgresConnection(name="w", database="d", user="same-as-the-user", password="${PW}")
