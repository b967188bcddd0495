"""Connections in environment variables."""

import pytest

from ematix_flow.connections.load import Connections
from ematix_flow.connections.model import KINDS, Connection, properties_of
from ematix_flow.connections.model.settings import Settings
from ematix_flow.errors import ConfigError, DeclarationError, UnknownName
from tests.unit.connections.test_no_secret_shown import WITH_USER, config_of


def registry(tmp_path, environ, **places):
    return Connections(
        **{
            "declared": {},
            "configured": {},
            "configured_in": "ematix-flow.toml",
            "environ": environ,
            "base": tmp_path,
            "home": tmp_path,
            **places,
        }
    )


def sample(each):
    """A value other than the default, and how a variable spells it."""
    if each.type is Settings:
        return {"a": "1", "b": "x,y"}, '{"a": 1, "b": "x,y"}'
    if each.choices:
        chosen = next(choice for choice in each.choices if choice != each.default)
        return chosen, chosen
    if each.type is bool:
        return (not each.default), str(not each.default).upper()
    if each.type is int:
        return 4711, "4711"
    return "text", "text"


EVERY = [
    (kind, key) for kind in KINDS for key in properties_of(KINDS[kind]) if key not in ("url", "api")
]


@pytest.mark.proves("connections-one-registry")
@pytest.mark.parametrize(("kind", "key"), EVERY)
def test_every_property_of_every_kind(tmp_path, kind, key):
    value, text = sample(properties_of(KINDS[kind])[key])
    if key == "catalog_type":
        value, text = "glue", "glue"
    partner = next(
        ({"sasl_plain_password": "p"} for user in [key] if user == "sasl_plain_username"),
        {"sasl_scram_password": "p"} if key == "sasl_scram_username" else {},
    )
    config = {**config_of(kind), **partner, **WITH_USER.get(key, {})}
    del config["kind"]
    environ = {f"EMATIX_FLOW_{kind.upper()}_MY_ONE_{k.upper()}": v for k, v in config.items()}
    environ[f"EMATIX_FLOW_{kind.upper()}_MY_ONE_{key.upper()}"] = text
    found = registry(tmp_path, environ)
    assert found["my_one"].kind == kind
    got = getattr(found["my_one"], key)
    assert (dict(got) if isinstance(got, Settings) else got) == value
    assert found.names() == ("my_one",)


def test_settings_as_pairs(tmp_path):
    head = "EMATIX_FLOW_KAFKA_EVENTS_"
    environ = {f"{head}BOOTSTRAP_SERVERS": "k:1", f"{head}PROPERTIES": "acks=all, linger.ms = 5"}
    assert dict(registry(tmp_path, environ)["events"].properties) == {
        "acks": "all",
        "linger.ms": "5",
    }


@pytest.mark.parametrize("text", ['{"a": "${X}", "b": "1"}', "a=${X},b=1", "${ALL}"])
def test_references_among_settings(tmp_path, text):
    head = "EMATIX_FLOW_KAFKA_EVENTS_"
    environ = {f"{head}BOOTSTRAP_SERVERS": "k:1", f"{head}PROPERTIES": text}
    environ |= {"X": 'quoted " and, more', "ALL": '{"a": "quoted \\" and, more", "b": 1}'}
    found = registry(tmp_path, environ).resolved("events").properties
    assert dict(found) == {"a": 'quoted " and, more', "b": "1"}


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        (
            {"KAFKA_E_BOOTSTRAP_SERVERS": "k", "KAFKA_E_PROPERTIES": "nothing"},
            "properties takes a table of settings, not a str",
        ),
        (
            {"KAFKA_E_BOOTSTRAP_SERVERS": "k", "KAFKA_E_PROPERTIES": "{broken"},
            "properties takes a table of settings, not a str",
        ),
        (
            {"POSTGRES_E_DATABASE": "d", "POSTGRES_E_PORT": "many"},
            "environment variables EMATIX_FLOW_POSTGRES_E_*: connection 'e': port takes an int",
        ),
        (
            {"POSTGRES_E_DATABASE": "d", "POSTGRES_E_PASWORD": "geheim-xyz"},
            "no property 'pasword'; did you mean 'password'?",
        ),
        (
            {"POSTGRES_E_DATABASE": "d", "SQLITE_E_PATH": "x"},
            "connection 'e' is of two kinds in the environment: sqlite, postgres",
        ),
        ({"DSN_E": "no-url"}, "connection 'e' has no kind"),
        ({"DSN_E": "nosuch://x"}, "unknown scheme in the URL of connection 'e': 'nosuch'"),
    ],
)
def test_mistakes(tmp_path, variables, expected):
    environ = {f"EMATIX_FLOW_{key}": value for key, value in variables.items()}
    with pytest.raises((ConfigError, DeclarationError, UnknownName)) as caught:
        registry(tmp_path, environ)["e"]
    assert expected in str(caught.value)
    assert "geheim" not in str(caught.value)


def test_a_url_and_properties_beside_it(tmp_path):
    environ = {
        "EMATIX_FLOW_DSN_SHOP": "postgres://db/shop",
        "EMATIX_FLOW_POSTGRES_SHOP_PASSWORD": "${PW}",
    }
    found = registry(tmp_path, environ)["shop"]
    assert (found.kind, found.host, found.password) == ("postgres", "db", "${PW}")
    assert found.origin == "environment variable EMATIX_FLOW_DSN_SHOP"


def test_a_url_and_properties_of_another_kind(tmp_path):
    environ = {
        "EMATIX_FLOW_DSN_SHOP": "postgres://db/shop",
        "EMATIX_FLOW_POSTGRES_SHOP_PASSWORD": "${PW}",
        "EMATIX_FLOW_SQLITE_SHOP_PATH": "another.db",
    }
    with pytest.raises(ConfigError, match="'shop' is of two kinds in the environment") as caught:
        _ = registry(tmp_path, environ)["shop"]
    assert "unset the variables EMATIX_FLOW_SQLITE_SHOP_*" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "beside", "kind"),
    [
        ("${SHOP_URL}", "EMATIX_FLOW_POSTGRES_SHOP_USER", "postgres"),
        ("s3://bucket/in", "EMATIX_FLOW_CSV_SHOP_DELIMITER", "csv"),
    ],
)
def test_properties_beside_a_url_tell_its_kind(tmp_path, url, beside, kind):
    environ = {"EMATIX_FLOW_DSN_SHOP": url, beside: ";"}
    assert registry(tmp_path, environ)["shop"].kind == kind


def test_names_that_variables_cannot_spell(tmp_path):
    environ = {"EMATIX_FLOW_DSN_SHOP_EU": "sqlite:///eu.db"}
    configured = {"shop-eu": {"kind": "sqlite", "path": "toml.db"}}
    found = registry(tmp_path, environ, configured=configured)
    assert found["shop-eu"].path == "eu.db"
    assert found.names() == ("shop-eu",)


def test_the_environment_describes_a_connection_whole(tmp_path):
    environ = {"EMATIX_FLOW_POSTGRES_W_PASSWORD": "geheim-xyz"}
    configured = {"w": {"kind": "postgres", "host": "db", "database": "shop"}}
    with pytest.raises(DeclarationError) as caught:
        registry(tmp_path, environ, configured=configured)["w"]
    assert str(caught.value) == (
        "environment variables EMATIX_FLOW_POSTGRES_W_*: connection 'w' (postgres) lacks database\n"
        "Hint: the environment describes the whole connection; ematix-flow.toml is not looked at"
    )


@pytest.mark.proves("connections-one-registry")
def test_every_place_that_knows_a_name_in_order(tmp_path):
    (tmp_path / ".ematix-flow").mkdir()
    (tmp_path / ".ematix-flow" / "connections.toml").write_text('[shop]\nurl = "sqlite:///h.db"\n')
    made = Connection.from_config("shop", {"url": "sqlite:///c.db"}, origin="pipelines.py:3")
    found = registry(
        tmp_path,
        {"EMATIX_FLOW_DSN_SHOP": "sqlite:///e.db"},
        declared={"shop": made},
        configured={"shop": {"url": "sqlite:///t.db"}},
    )
    assert found["shop"].path == "c.db"
    assert found.places("shop") == [
        "pipelines.py:3",
        "environment variable EMATIX_FLOW_DSN_SHOP",
        "ematix-flow.toml",
        str(tmp_path / ".ematix-flow" / "connections.toml"),
    ]
