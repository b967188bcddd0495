from pathlib import Path

import pytest

from ematix_flow._base.redact import redact
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


@pytest.mark.proves("connections-one-registry")
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


@pytest.mark.proves("connections-one-registry")
def test_single_properties_come_from_the_environment(tmp_path):
    environ = {
        "EMATIX_FLOW_CSV_LANDING_PATH": "in",
        "EMATIX_FLOW_CSV_LANDING_HEADER": "false",
        "EMATIX_FLOW_CSV_LANDING_DELIMITER": ";",
    }
    found = connections(tmp_path, environ=environ)["landing"]
    assert isinstance(found, CsvConnection)
    assert (found.path, found.header, found.delimiter) == ("in", False, ";")


@pytest.mark.proves("connections-one-registry")
def test_an_unknown_connection_lists_every_place(tmp_path):
    with pytest.raises(UnknownName) as caught:
        connections(tmp_path, declared={"shop": sqlite("a.db")})["shpo"]
    text = str(caught.value)
    assert "unknown connection 'shpo'; did you mean 'shop'?" in text
    for place in (
        "@ematix.connection or connect() in code",
        "EMATIX_FLOW_DSN_SHPO",
        "EMATIX_FLOW_<KIND>_SHPO_<PROPERTY> in the environment",
        "[connections.shpo] in ematix-flow.toml",
        "~/.ematix-flow/connections.toml",
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
        ("sqlite://data/shop.db", "data/shop.db"),
        ("shop.db", "shop.db"),
    ],
)
def test_urls(url, path):
    assert Connection.from_config("c", {"type": "sqlite", "dsn": url}).path == path


def test_the_config_round_trips():
    config = {"kind": "csv", "path": "in", "delimiter": ";"}
    built = Connection.from_config("c", config)
    assert built.to_config() == {"name": "c", **config}
    assert list(built.to_config()) == ["name", "kind", "path", "delimiter"]
    assert Connection.from_config("c", built.to_config()) == built
    assert Connection.from_config(built.to_config()) == built
    assert Connection.from_config(config) == Connection.from_config("", config) != built
    with pytest.raises(DeclarationError, match="connection 'd' says that its name is 'c'"):
        Connection.from_config("d", built.to_config())


@pytest.mark.proves("secrets-late")
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


SECRET = "s3cr3t-value"


@pytest.mark.parametrize(
    "name",
    [
        *("DB_PASS", "PGPASS", "PGPASSWORD", "PASSPHRASE", "DB_PWD", "AUTH", "AUTH_HEADER"),
        *("CLIENT_SECRET", "API_KEY", "APIKEY", "access-key", "PRIVATE_KEY", "ACCOUNT_KEY"),
        *("SAS_TOKEN", "GCP_CREDENTIALS", "db_cred"),
    ],
)
def test_variables_named_like_a_secret_are_secrets(name):
    SecretResolver(environ={name: SECRET}).expand(f"${{{name}}}")
    assert SECRET not in redact(f"it says {SECRET}")


@pytest.mark.parametrize(
    "name", ["KEY", "SORT_KEY", "DATA_URL", "SHOP_DSN", "PWD", "OLDPWD", "AUTHOR", "FOLDER"]
)
def test_other_variables_are_not(name):
    SecretResolver(environ={name: "orders"}).expand(f"${{{name}}}")
    assert redact("orders: 3 rows") == "orders: 3 rows"


@pytest.mark.parametrize("name", ["SHOP_URL", "SHOP_DSN", "ANYTHING"])
def test_of_a_url_only_the_password_is_a_secret(name):
    resolver = SecretResolver(environ={name: f"postgres://app:{SECRET}@db/shop"})
    resolver.register_property("url", f"${{{name}}}")
    assert redact(f"app, {SECRET}, postgres, db, shop") == "app, ***, postgres, db, shop"


@pytest.mark.proves("no-secret")
def test_secrets_of_every_place_are_known_once_the_project_is_open(tmp_path):
    home = tmp_path / "home" / ".ematix-flow" / "connections.toml"
    home.parent.mkdir(parents=True)
    home.write_text('[connections.a]\nkind = "csv"\npath = "${IN_HOME_PASS}"\n')
    environ = {
        "IN_HOME_PASS": "secret-of-home",
        "IN_CODE_PASS": "secret-of-code",
        "IN_TOML_PASS": "secret-of-toml",
        "IN_ENV_PASS": "secret-of-env",
        "EMATIX_FLOW_DSN_B": "postgres://app:secret-of-dsn@db/shop",
        "EMATIX_FLOW_CSV_C_PATH": "${IN_ENV_PASS}/x",
    }
    connections(
        tmp_path,
        declared={"d": sqlite("${IN_CODE_PASS}", "d")},
        configured={
            "e": {"kind": "csv", "path": "${IN_TOML_PASS}"},
            "f": {"kind": "csv", "path": "x", "password": "secret-inline"},
            "g": {"url": "postgres://app:${NOT_SET}@db/shop", "password": "${NOT_SET}"},
        },
        environ=environ,
    ).register_secrets()
    for place in ("home", "code", "toml", "env", "dsn"):
        assert redact(f"x secret-of-{place} x") == "x *** x"
    assert redact("x secret-inline x") == "x *** x"
    assert redact("csv, path, shop, app, ${NOT_SET}") == "csv, path, shop, app, ${NOT_SET}"


def test_a_broken_home_file_does_not_stop_a_project_that_does_not_use_it(tmp_path):
    home = tmp_path / "home" / ".ematix-flow" / "connections.toml"
    home.parent.mkdir(parents=True)
    home.write_text("[connections")
    found = connections(tmp_path, declared={"shop": sqlite("a.db")})
    found.register_secrets()
    assert found["shop"].path == "a.db"
    with pytest.raises(ConfigError, match=r"connections\.toml: not valid TOML"):
        found["other"]


def test_a_longer_name_does_not_disturb_a_shorter_one(tmp_path):
    environ = {
        "EMATIX_FLOW_SQLITE_SHOP_PATH": "shop.db",
        "EMATIX_FLOW_SQLITE_SHOP_ARCHIVE_PATH": "archive.db",
    }
    found = connections(tmp_path, environ=environ)
    assert found["shop"].path == "shop.db"
    assert found["shop_archive"].path == "archive.db"
    only_archive = {"EMATIX_FLOW_SQLITE_SHOP_ARCHIVE_PATH": "archive.db"}
    with pytest.raises(UnknownName, match="unknown connection 'shop'"):
        connections(tmp_path, environ=only_archive)["shop"]


def test_a_url_and_a_misspelt_property_in_the_environment(tmp_path):
    environ = {"EMATIX_FLOW_SQLITE_SHOP_URL": "sqlite:///shop.db"}
    assert connections(tmp_path, environ=environ)["shop"].path == "shop.db"
    misspelt = {"EMATIX_FLOW_CSV_IN_PATH": "in", "EMATIX_FLOW_CSV_IN_DELIMETER": ";"}
    with pytest.raises(DeclarationError, match="no property 'delimeter'; did you mean"):
        connections(tmp_path, environ=misspelt)["in"]


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize(
    "where",
    [{"path": ":memory:"}, {"url": ":memory:"}, {"path": "${P}"}, {"path": ":memory:c"}],
)
def test_a_database_in_memory_has_the_name_of_its_connection_or_its_own(kind, where):
    found = Connection.from_config("c", {"kind": kind, **where}, base=Path("/project")).resolved(
        SecretResolver(environ={"P": ":memory:"})
    )
    assert found.in_memory
    assert str(found.location) == ":memory:c"


def test_a_database_in_a_file_lies_in_the_project():
    found = Connection.from_config("c", {"kind": "sqlite", "path": "c.db"}, base=Path("/project"))
    assert (found.in_memory, str(found.location)) == (False, "/project/c.db")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize("path", ["link.db", "x/../c.db", "here/link.db", ".//c.db"])
def test_a_database_is_in_one_place_however_its_path_is_spelt(tmp_path, kind, path):
    (tmp_path / "link.db").symlink_to("c.db")
    (tmp_path / "here").symlink_to(".")
    found = Connection.from_config("c", {"kind": kind, "path": path}, base=tmp_path)
    assert found.location == tmp_path / "c.db"


def test_a_link_that_leads_nowhere_is_a_place_all_the_same(tmp_path):
    (tmp_path / "c.db").symlink_to("c.db")
    found = Connection.from_config("c", {"kind": "sqlite", "path": "c.db"}, base=tmp_path)
    assert found.location == tmp_path / "c.db"


def test_a_connection_in_toml_is_a_table(tmp_path):
    found = connections(tmp_path, configured={"shop": "shop.db"})
    found.register_secrets()
    with pytest.raises(ConfigError, match=r"connection 'shop' takes a table .* not str"):
        found["shop"]
