"""`flow connections` and `flow secrets`."""

import json
import stat

import pytest

from ematix_flow.cli.connections import connections
from ematix_flow.cli.root import flow as root
from ematix_flow.cli.secrets import secrets
from ematix_flow.connections.inline import ALLOW, InlineCredentialWarning
from ematix_flow.errors import UnknownName, UsageError

CANARY = "canary-of-the-commands-9a"

CODE = """
from ematix_flow import ematix

@ematix.connection
class shop:
    kind = "sqlite"
    path = "shop.db"
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder, home = tmp_path / "project", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("EMATIX_FLOW_DSN_FROM_ENV", f"postgres://app:{CANARY}@127.0.0.1:1/shop")
    monkeypatch.setenv("LANDING", "in")
    for unset in ("NOT_SET_HERE", ALLOW):
        monkeypatch.delenv(unset, raising=False)
    (folder / "in").mkdir()
    (folder / "in" / "t.csv").write_text("id\n1\n")
    (folder / "pipelines.py").write_text(CODE)
    (folder / "ematix-flow.toml").write_text(
        '[connections.landing]\nkind = "csv"\npath = "${LANDING}"\n\n'
        '[connections.lake]\nkind = "snowflake"\naccount = "a"\npassword = "${NOT_SET_HERE}"\n\n'
        '[connections.wrong]\nkind = "csv"\npat = "x"\n'
    )
    (home / ".ematix-flow").mkdir()
    (home / ".ematix-flow" / "connections.toml").write_text(
        '[connections.mine]\nkind = "memory"\n\n[connections.landing]\nkind = "csv"\npath = "h"\n'
    )
    return folder


@pytest.fixture
def flow(project, capsys):
    def run(group, *words):
        # Through the root, as users do: click remembers the help option of the first call.
        code = root.main([group.name, *words, "--project", str(project)], standalone_mode=False)
        told = capsys.readouterr()
        assert CANARY not in told.out + told.err
        return code or 0, told.out

    return run


@pytest.mark.proves("connections-one-registry", "no-secret")
def test_list_shows_all_four_places(flow):
    code, text = flow(connections, "list")
    assert code == 0
    for word in ("shop", "from_env", "landing", "mine", "${LANDING}", "pipelines.py:4"):
        assert word in text
    _, data = flow(connections, "list", "--format", "json")
    found = {each["name"]: each for each in json.loads(data)["connections"]}
    assert set(found) == {"shop", "from_env", "landing", "lake", "wrong", "mine"}
    assert found["from_env"]["config"]["password"] == "***"
    assert found["from_env"]["origin"] == "environment variable EMATIX_FLOW_DSN_FROM_ENV"
    assert found["lake"]["config"]["password"] == "${NOT_SET_HERE}"
    assert found["landing"]["origin"].endswith("ematix-flow.toml")
    [hidden] = found["landing"]["also_at"]
    assert hidden.endswith("connections.toml")
    assert "did you mean 'path'?" in found["wrong"]["error"]


def test_list_shows_what_is_wrong_with_a_connection(flow, monkeypatch):
    monkeypatch.setenv("EMATIX_FLOW_SQLITE_TWICE_PATH", "a.db")
    monkeypatch.setenv("EMATIX_FLOW_DUCKDB_TWICE_PATH", "b.db")
    code, data = flow(connections, "list", "--format", "json")
    found = {each["name"]: each for each in json.loads(data)["connections"]}
    assert code == 0
    assert found["twice"]["error"].startswith("connection 'twice' is of two kinds")
    assert found["shop"]["error"] is None


def test_check_reaches_what_it_can_and_fails_on_the_rest(flow):
    code, data = flow(connections, "check", "--format", "json")
    found = {each["name"]: each for each in json.loads(data)["checks"]}
    assert code == 3
    assert {name: each["health"] for name, each in found.items()} == {
        "shop": "note",
        "landing": "ok",
        "mine": "note",
        "from_env": "problem",
        "lake": "problem",
        "wrong": "problem",
    }
    code, text = flow(connections, "check", "landing", "mine")
    assert code == 0
    assert "ok  landing  csv: " in text
    assert "--  mine     memory: there is no database" in text
    with pytest.raises(UnknownName, match="did you mean 'landing'"):
        flow(connections, "check", "landin")


def test_secrets_test_tells_where_each_comes_from(flow):
    code, text = flow(secrets, "test", "landing")
    assert (code, text) == (0, "ok  landing.path  ${LANDING}  from environment variable LANDING\n")
    code, text = flow(secrets, "test")
    assert code == 3
    assert "!!  lake.password  ${NOT_SET_HERE}  ${NOT_SET_HERE} is used" in text
    assert "Hint: export NOT_SET_HERE" in text
    code, data = flow(secrets, "test", "lake", "--format", "json")
    [told] = json.loads(data)["references"]
    assert (code, told["ok"], told["property"]) == (3, False, "password")


def test_set_writes_into_the_project(flow, project):
    before = (project / "ematix-flow.toml").read_text()
    code, text = flow(
        connections, "set", "warehouse", "kind=postgres", "database=shop", "password=${PW}"
    )
    assert code == 0
    assert "warehouse: database=shop, password=${PW}" in text
    assert (project / "ematix-flow.toml").read_text() == before + (
        '\n[connections.warehouse]\nkind = "postgres"\ndatabase = "shop"\npassword = "${PW}"\n'
    )
    _, data = flow(connections, "list", "--format", "json")
    assert "warehouse" in data


def test_set_says_when_another_place_counts_first(flow):
    _, text = flow(connections, "set", "shop", "kind=sqlite", "path=other.db")
    assert "pipelines.py:4 declares shop too, and counts first." in text
    _, data = flow(connections, "set", "landing", "path=b", "--format", "json")
    assert json.loads(data)["hidden_by"] is None


def test_set_refuses_a_secret(flow, project):
    before = (project / "ematix-flow.toml").read_text()
    words = ["set", "warehouse", "kind=postgres", "database=shop", f"password={CANARY}"]
    with pytest.raises(UsageError, match="would be written out"):
        flow(connections, *words)
    assert (project / "ematix-flow.toml").read_text() == before
    with pytest.warns(InlineCredentialWarning):
        code, text = flow(connections, *words, "--allow-inline")
    assert code == 0
    assert "password=***" in text
    with pytest.warns(InlineCredentialWarning):
        flow(connections, "list")


def test_set_writes_into_the_home_for_its_owner_alone(flow, project):
    code, _ = flow(connections, "set", "mine2", "url=sqlite:///x.db", "--home")
    assert code == 0
    file = project.parent / "home" / ".ematix-flow" / "connections.toml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text().endswith('[connections.mine2]\nurl = "sqlite:///x.db"\n')
    _, data = flow(connections, "list", "--format", "json")
    assert "mine2" in data
