"""Writing a connection into TOML and leaving the rest of the file alone."""

import stat
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ematix_flow.connections.edit import TomlFile
from ematix_flow.connections.toml_text import with_values
from ematix_flow.errors import ConfigError, DeclarationError, UnknownName, UsageError
from tests.unit.connections.strategies import TEXT

FILE = """\
# The shop's settings.
engine = "local"   # for now

[connections.landing]  # where files come in
kind = "csv"
path = "in"            # relative
  header = false
# the end of landing

[connections."shop-eu"]
kind = 'sqlite'
path = 'a # b.db' # why

[spark]
spark.sql.x = 1
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "ematix-flow.toml"
    path.write_text(FILE)
    return TomlFile(path=path)


@pytest.mark.proves("config-round-trip")
def test_values_are_changed_in_their_place(file):
    file.set("landing", ["path=other in", "delimiter=;", "header=true"])
    assert file.path.read_text() == FILE.replace(
        'path = "in"            # relative\n  header = false\n',
        'path = "other in"            # relative\n  header = true\ndelimiter = ";"\n',
    )


def test_a_value_with_a_hash_in_it(file):
    file.set("shop-eu", ["path=c#d.db"])
    assert file.path.read_text() == FILE.replace("'a # b.db' # why", '"c#d.db" # why')


def test_a_new_connection_goes_to_the_end(file):
    built = file.set(
        "events", ["kind=kafka", "bootstrap_servers=k:1", "tls=true", "properties.a.b=5"]
    )
    assert built.tls is True
    assert file.path.read_text() == FILE + (
        "\n[connections.events]\n"
        'kind = "kafka"\nbootstrap_servers = "k:1"\ntls = true\nproperties = { "a.b" = "5" }\n'
    )
    file.set("events", ["properties.c=6", "url=kafka://k:1"])
    found = tomllib.loads(file.path.read_text())["connections"]["events"]
    assert found["properties"] == {"a.b": "5", "c": "6"}


@pytest.mark.proves("config-round-trip")
def test_a_file_without_a_last_line_break_and_with_crlf(tmp_path):
    path = tmp_path / "t.toml"
    path.write_bytes(b'engine = "local"\r\n[connections.a]\r\nkind = "csv"\r\npath = "x"')
    TomlFile(path=path).set("a", ["delimiter=;"])
    assert path.read_bytes() == (
        b'engine = "local"\r\n[connections.a]\r\nkind = "csv"\r\npath = "x"\r\ndelimiter = ";"\r\n'
    )


def test_a_file_that_is_not_there(tmp_path):
    file = TomlFile(path=tmp_path / "sub" / "connections.toml", mode=0o600, private=True)
    file.set("w", ["url=postgres://app:${PW}@db/shop"])
    assert file.path.read_text() == '[connections.w]\nurl = "postgres://app:${PW}@db/shop"\n'
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    file.path.chmod(0o644)
    file.set("w", ["url=postgres://db/shop"])
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_the_mode_of_a_projects_file_stays(file):
    file.path.chmod(0o640)
    file.set("landing", ["path=b"])
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o640


def test_a_home_file_without_the_heading(tmp_path):
    path = tmp_path / "connections.toml"
    path.write_text('[a]\nkind = "csv"\npath = "x"\n')
    file = TomlFile(path=path, mode=0o600, private=True)
    file.set("b", ["kind=csv", "path=y"])
    file.set("a", ["path=z"])
    assert tomllib.loads(path.read_text()) == {
        "a": {"kind": "csv", "path": "z"},
        "b": {"kind": "csv", "path": "y"},
    }


@pytest.mark.proves("nothing-half-written")
@pytest.mark.parametrize(
    ("assignments", "error", "expected"),
    [
        (["kind=csv", "path"], UsageError, "a property is set by key=value"),
        (["kind=csv", "pth=x"], DeclarationError, "no property 'pth'; did you mean 'path'?"),
        (["kind=csv"], DeclarationError, "connection 'new' (csv) lacks path"),
        (["kind=cvs", "path=x"], UnknownName, "'cvs'; did you mean 'csv'?"),
        (["kind=csv", "path=x", "header=maybe"], DeclarationError, "header takes a bool, not"),
        (
            ["kind=postgres", "database=d", "password=written-out-1"],
            UsageError,
            "password is a secret and would be written out; nothing was changed",
        ),
        (["url=postgres://a:written-out-1@db/d"], UsageError, "password='${NEW_PASSWORD}'"),
        (
            ["kind=kafka", "bootstrap_servers=k", "properties.ssl.key.password=written-out-1"],
            UsageError,
            "properties.ssl.key.password is a secret",
        ),
    ],
)
def test_what_is_refused_changes_nothing(file, assignments, error, expected):
    with pytest.raises(error) as caught:
        file.set("new", assignments)
    assert expected in str(caught.value)
    assert "written-out-1" not in str(caught.value)
    assert file.path.read_text() == FILE


def test_a_secret_is_written_out_when_that_is_asked_for(file):
    file.set("w", ["kind=postgres", "database=d", "password=written-out"], allow_inline=True)
    assert 'password = "written-out"' in file.path.read_text()
    # It is there already: another property can be set without asking again.
    file.set("w", ["database=e"])


@pytest.mark.parametrize(
    "text",
    [
        'connections = { a = { kind = "csv", path = "x" } }\n',
        'connections.a.kind = "csv"\nconnections.a.path = "x"\n',
        '[connections]\na = { kind = "csv", path = "x" }\n',
        '[connections.a]\nkind = "csv"\npath = """\nx"""\n',
        'note = """\n[connections.a]\npath = 1\n"""\n[connections]\na.kind = "csv"\na.path = "x"\n',
    ],
)
def test_what_cannot_be_changed_safely_is_left_alone(tmp_path, text):
    path = tmp_path / "t.toml"
    path.write_text(text)
    before = tomllib.loads(text)["connections"]["a"]
    with pytest.raises(ConfigError, match=r"cannot be changed safely; nothing was changed"):
        TomlFile(path=path).set("a", ["path=y"])
    assert path.read_text() == text
    assert before["path"] == "x"


def test_a_file_that_is_no_toml(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text("[connections")
    with pytest.raises(ConfigError, match=r"t\.toml: not valid TOML"):
        TomlFile(path=path).set("a", ["kind=csv", "path=y"])


COMMENTS = st.sampled_from(["", "# a comment\n", "\n\n", "x = 1 # [connections.a]\n"])


@pytest.mark.proves("config-round-trip")
@given(COMMENTS, st.sampled_from(["\n", "", "# [b]\n"]), st.dictionaries(TEXT, TEXT, max_size=3))
def test_whatever_is_set_is_read_back_and_the_rest_stays(head, tail, values):
    text = f'{head}[connections.a]\nold = "1" # kept\n{tail}'
    edited = with_values(text, ("connections", "a"), values)
    expected = tomllib.loads(text)
    expected["connections"]["a"].update(values)
    assert tomllib.loads(edited) == expected
    if "old" not in values:
        assert [line for line in edited.splitlines() if line in text.splitlines()] == (
            text.splitlines()
        )


def test_a_reference_is_not_replaced_by_the_secret_itself(file):
    file.set("w", ["kind=postgres", "database=d", "password=${PW}"])
    before = file.path.read_text()
    for assignment in ("password=written-out-2", "url=postgres://app:written-out-2@db/d"):
        with pytest.raises((UsageError, DeclarationError)) as caught:
            file.set("w", [assignment])
        assert "written-out-2" not in str(caught.value)
    assert file.path.read_text() == before


@pytest.mark.parametrize(
    "text", ['[[connections.a]]\nkind = "csv"\npath = "x"\n', "[connections]\na = 5\n"]
)
def test_a_connection_that_is_no_table(tmp_path, text):
    path = tmp_path / "t.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"t\.toml: a takes a table, and is a"):
        TomlFile(path=path).set("a", ["path=y"])
    assert path.read_text() == text


def test_a_setting_that_is_commented_out_stays_so(tmp_path):
    path = tmp_path / "t.toml"
    text = '[connections.a]\nkind = "csv"\n# path = "z"\npath = "x"\n'
    path.write_text(text)
    TomlFile(path=path).set("a", ["path=y"])
    assert path.read_text() == text.replace('path = "x"', 'path = "y"')


def test_a_line_separator_of_unicode_is_part_of_a_comment(tmp_path):
    path = tmp_path / "t.toml"
    text = '[connections.a]\nkind = "csv"\n# as in\u2028path = "z"\npath = "x"\n'
    path.write_text(text, encoding="utf-8")
    TomlFile(path=path).set("a", ["path=y"])
    assert path.read_text(encoding="utf-8") == text.replace('path = "x"', 'path = "y"')


def test_a_link_stays_a_link(tmp_path):
    real, link = tmp_path / "real.toml", tmp_path / "t.toml"
    real.write_text("")
    link.symlink_to(real)
    TomlFile(path=link).set("a", ["kind=csv", "path=y"])
    assert link.is_symlink()
    assert 'path = "y"' in real.read_text()


def test_what_is_no_text_and_what_cannot_be_written(file, tmp_path):
    with pytest.raises(UsageError, match="a value is not text; nothing was changed"):
        file.set("landing", ["path=\udcff"])
    assert file.path.read_text() == FILE
    (tmp_path / "a-file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        TomlFile(path=tmp_path / "a-file" / "t.toml").set("a", ["kind=csv", "path=y"])
