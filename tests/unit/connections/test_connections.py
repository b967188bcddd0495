import pytest

from ematix_flow.connections.load import Connections
from ematix_flow.connections.model import Connection, CsvConnection
from ematix_flow.connections.secrets import SecretResolver
from ematix_flow.errors import ConfigError, DeclarationError, UnknownName


def connections(tmp_path, *, declared=None, configured=None, environ=None):
    return Connections(
        declared=declared or {},
        configured=configured or {},
        configured_in="ematix-flow.toml",
        environ=environ or {},
        base=tmp_path,
        home=tmp_path / "home",
    )


def sqlite(path, name="shop"):
    return Connection.from_config(name, {"kind": "sqlite", "path": path})


def test_the_order_is_keyword_environment_toml_home(tmp_path):
    home = tmp_path / "home" / ".ematix-flow" / "connections.toml"
    home.parent.mkdir(parents=True)
    home.write_text('[connections.shop]\nkind = "sqlite"\npath = "home.db"\n')
    configured = {"shop": {"kind": "sqlite", "path": "toml.db"}}
    environ = {"EMATIX_FLOW_DSN_SHOP": "sqlite:///env.db"}
    declared = {"shop": sqlite("keyword.db")}

    assert connections(tmp_path)["shop"].path == "home.db"
    assert connections(tmp_path, configured=configured)["shop"].path == "toml.db"
    assert connections(tmp_path, configured=configured, environ=environ)["shop"].path == "env.db"
    everything = connections(tmp_path, declared=declared, configured=configured, environ=environ)
    assert everything["shop"].path == "keyword.db"
    assert everything.names() == ("shop",)


def test_single_properties_come_from_the_environment(tmp_path):
    environ = {
        "EMATIX_FLOW_CSV_LANDING_PATH": "in",
        "EMATIX_FLOW_CSV_LANDING_HEADER": "false",
        "EMATIX_FLOW_CSV_LANDING_DELIMITER": ";",
    }
    found = connections(tmp_path, environ=environ)["landing"]
    assert isinstance(found, CsvConnection)
    assert (found.path, found.header, found.delimiter) == ("in", False, ";")


def test_an_unknown_connection_lists_every_place(tmp_path):
    with pytest.raises(UnknownName) as caught:
        connections(tmp_path, declared={"shop": sqlite("a.db")})["shpo"]
    text = str(caught.value)
    assert "unknown connection 'shpo'; did you mean 'shop'?" in text
    for place in (
        "@ematix.connection",
        "EMATIX_FLOW_DSN_SHPO",
        "ematix-flow.toml",
        "connections.toml",
    ):
        assert place in text


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"path": "x"}, "has no kind"),
        ({"kind": "postgers", "path": "x"}, "unknown kind of connection 'c': 'postgers'"),
        ({"kind": "csv"}, "connection 'c' (csv) lacks path"),
        (
            {"kind": "csv", "path": "x", "delimeter": ";"},
            "no property 'delimeter'; did you mean 'delimiter'?",
        ),
        ({"kind": "csv", "path": 3}, "path takes a str, not 3"),
        ({"kind": "csv", "path": "x", "header": "yes"}, "header takes a bool, not 'yes'"),
    ],
)
def test_mistakes_in_a_connection(config, expected):
    with pytest.raises((DeclarationError, UnknownName)) as caught:
        Connection.from_config("c", config, origin="pipelines.py:3")
    assert expected in str(caught.value)
    assert "pipelines.py:3" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///shop.db", "shop.db"),
        ("sqlite:////var/shop.db", "/var/shop.db"),
        ("sqlite:///a%20b.db", "a b.db"),
        ("shop.db", "shop.db"),
    ],
)
def test_urls(url, path):
    assert Connection.from_config("c", {"type": "sqlite", "dsn": url}).path == path


def test_the_config_round_trips():
    config = {"kind": "csv", "path": "in", "delimiter": ";"}
    built = Connection.from_config("c", config)
    assert built.to_config() == config
    assert list(built.to_config()) == ["kind", "path", "delimiter"]
    assert Connection.from_config("c", built.to_config()) == built


def test_references_are_resolved_at_use_only(tmp_path):
    (tmp_path / "secret").write_text("from-file\n")
    resolver = SecretResolver(environ={"A": "1"}, base=tmp_path)
    assert resolver.expand("${A}/${B:-2}/${file:secret}/$C") == "1/2/from-file/$C"
    connection = sqlite("${NOT_SET}/x.db")
    assert connection.path == "${NOT_SET}/x.db"
    with pytest.raises(ConfigError, match="NOT_SET is not set"):
        connection.resolved(resolver)
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        resolver.expand("${file:nope}")


def test_relative_paths_are_relative_to_the_project(tmp_path):
    found = connections(tmp_path, declared={"shop": sqlite("a/b.db")}).resolved("shop")
    assert found.location == tmp_path / "a" / "b.db"
