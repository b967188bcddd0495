"""Which engine is chosen, and that no token leaves the choice."""

from __future__ import annotations

import pytest

from ematix_flow._base.location import Location
from ematix_flow._base.redact import redact
from ematix_flow.engine import choice as module
from ematix_flow.engine.choice import choose, connect_address, parse
from ematix_flow.errors import ConfigError, UnknownName, UsageError
from ematix_flow.spec.pipeline import Pipeline

HERE = Location("pipelines.py", 7)


@pytest.mark.proves("engine-chosen")
def test_the_argument_wins_over_environment_and_toml():
    found = choose("local[3]", {"EMATIX_FLOW_ENGINE": "sail"}, "yarn")
    assert (found.kind, found.address, found.why) == ("local", "local[3]", "asked for")


@pytest.mark.proves("engine-chosen")
def test_the_environment_wins_over_the_toml():
    found = choose(None, {"EMATIX_FLOW_ENGINE": "yarn"}, "sail")
    assert (found.kind, found.address) == ("master", "yarn")
    assert "EMATIX_FLOW_ENGINE" in found.why


@pytest.mark.proves("engine-chosen")
def test_the_toml_wins_over_the_default():
    assert choose(None, {}, "sail").kind == "sail"
    assert choose(None, {}, None).address == "local[*]"


def pipeline_on(engine):
    return Pipeline(name="p", targets=(), function=print, location=HERE, engine=engine)


@pytest.mark.proves("engine-chosen")
def test_the_pipelines_own_engine_wins_over_the_toml_only():
    wish = pipeline_on("sail")
    found = choose(None, {}, "yarn", pipeline=wish)
    assert (found.kind, found.why) == ("sail", "the pipeline's own engine")
    assert choose(None, {"EMATIX_FLOW_ENGINE": "yarn"}, None, pipeline=wish).address == "yarn"
    assert choose("local[3]", {}, None, pipeline=wish).address == "local[3]"
    assert choose(None, {}, "yarn", pipeline=pipeline_on(None)).why == "set in the project's TOML"


@pytest.mark.proves("bad-engine", "mistakes-told")
@pytest.mark.parametrize("value", ["sial", "spark://", "sc://"])
@pytest.mark.parametrize(
    ("asking", "where"),
    [
        (lambda value: choose(value, {}, None), "asked for: "),
        (
            lambda value: choose(None, {"EMATIX_FLOW_ENGINE": value}, None),
            "EMATIX_FLOW_ENGINE is set: ",
        ),
        (lambda value: choose(None, {}, None, pipeline=pipeline_on(value)), "pipelines.py:7: "),
        (lambda value: choose(None, {}, value), "set in the project's TOML: "),
    ],
)
def test_a_mistake_is_told_where_it_was_made(value, asking, where):
    with pytest.raises(UsageError) as caught:
        asking(value)
    assert str(caught.value).startswith(where)


@pytest.mark.proves("engine-chosen")
@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("local", "local"),
        ("local[*]", "local"),
        ("local[4]", "local"),
        ("spark://host:7077", "master"),
        ("k8s://https://host:6443", "master"),
        ("yarn", "master"),
        ("sc://host", "connect"),
        ("sail", "sail"),
    ],
)
def test_every_documented_value_is_understood(value, kind):
    assert parse(value, why="test").kind == kind


@pytest.mark.proves("bad-engine")
@pytest.mark.parametrize(
    "value", ["locall", "local[0]", "local[-1]", "mesos://x", "sc:/x", "LOCAL"]
)
def test_anything_else_is_an_unknown_engine(value):
    with pytest.raises(UnknownName, match="unknown engine"):
        parse(value, why="test")


def test_an_unknown_engine_is_guessed_at():
    with pytest.raises(UnknownName, match="did you mean 'sail'"):
        choose("sial", {}, None)


@pytest.mark.proves("bad-engine")
@pytest.mark.parametrize("value", ["sc://", "sc://:15002", "sc://host:port", "sc://host/path"])
def test_a_malformed_connect_address_says_what_was_expected(value):
    with pytest.raises(ConfigError, match=r"sc://host\[:port\]"):
        parse(value, why="test")


def test_a_cluster_without_a_host_is_refused():
    with pytest.raises(ConfigError, match="names no host"):
        parse("spark://", why="test")


def test_a_connect_address_is_split_and_has_a_default_port():
    address = connect_address("sc://host/;user_id=me;token=abcd-secret")
    assert (address.host, address.port) == ("host", 15002)
    assert dict(address.parameters) == {"user_id": "me", "token": "abcd-secret"}
    assert connect_address("sc://[::1]:99").printable == "sc://[::1]:99"


@pytest.mark.proves("no-secret")
def test_the_token_of_a_pipelines_own_engine_is_not_in_the_reason():
    found = choose(None, {}, None, pipeline=pipeline_on("sc://host:1/;token=canary-4710-token"))
    assert found.target.endswith("canary-4710-token")
    assert "canary" not in str(found.to_json())


@pytest.mark.proves("no-secret")
def test_a_token_is_a_secret_from_the_moment_it_is_read():
    token = "canary-4711-token"
    found = choose(f"sc://host:1/;token={token}", {}, None)
    assert found.target.endswith(token)
    for shown in (found.address, repr(found), str(found.to_json()), redact(f"x {token} y")):
        assert token not in shown


def test_a_token_does_not_show_in_the_error_for_its_address():
    with pytest.raises(ConfigError) as caught:
        parse("sc://host:port/;token=canary-4712-token", why="test")
    assert "canary" not in str(caught.value)


def test_auto_is_local_unless_something_else_is_configured():
    assert choose("auto", {}, None).kind == "local"


@pytest.mark.parametrize(("installed", "kind"), [(True, "sail"), (False, "local")])
def test_auto_takes_sail_only_where_listed_and_installed(monkeypatch, installed, kind):
    monkeypatch.setattr(module, "find_spec", lambda _: object() if installed else None)
    assert choose("auto", {}, None, auto=("sail", "local")).kind == kind
    assert choose("auto", {}, None, auto=("local", "sail")).kind == "local"
    assert choose("auto", {}, None).kind == "local"


def test_auto_lists_only_engines_it_can_pick():
    with pytest.raises(UnknownName, match="auto"):
        choose("auto", {}, None, auto=("duckdb",))


WITHOUT_SPARK = """
connect("app", kind="sqlite", path="app.db")
connect("out", kind="sqlite", path="out.db")

@ematix.table
class Copied:
    id: BigInt

@ematix.pipeline(target=Copied, source_connection="app", target_connection="out", {wish})
def load():
    return "SELECT id FROM given"
"""


@pytest.mark.proves("bad-engine")
def test_a_wrong_engine_is_told_also_where_none_is_needed(project, monkeypatch):
    monkeypatch.delenv("EMATIX_FLOW_ENGINE", raising=False)
    project.sqlite("app.db", "CREATE TABLE given (id BIGINT)")
    project.declare(WITHOUT_SPARK.format(wish=""))
    with pytest.raises(UnknownName, match="unknown engine 'sial'"):
        project.flow(engine="sial")
    with pytest.raises(UnknownName, match="unknown engine 'sial'"):
        project.flow(environ={"EMATIX_FLOW_ENGINE": "sial", "HOME": str(project.path)})
    project.declare(WITHOUT_SPARK.format(wish='engine="sial"'))
    flow = project.flow()
    with pytest.raises(UnknownName, match="unknown engine 'sial'"):
        flow.run("load")
    assert flow.runs() == []
    project.write("ematix-flow.toml", 'engine = "sial"')
    with pytest.raises(UnknownName, match=r"set in the project's TOML: unknown engine 'sial'"):
        project.flow()
