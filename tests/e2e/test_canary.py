"""A secret put in everywhere must come out nowhere."""

import json

import pytest

CANARY = "canary-7f3a9c1e"

PROJECT = """
@ematix.connection
class landing:
    kind = "csv"
    path = "${SECRET_PATH}"

@ematix.connection
class out:
    kind = "sqlite"
    path = "out.db"

@ematix.table
class T:
    id: BigInt

@ematix.pipeline(target=T, source_connection="landing", target_connection="out")
def load():
    return "SELECT id FROM t"

@ematix.pipeline(target=T, source_connection="out", target_connection="out")
def raises():
    import os
    raise RuntimeError("cannot log in as app:" + os.environ["SECRET_PATH"])

@ematix.pipeline(target=T, source_connection="out", target_connection="out")
def leaks():
    return "SELECT 'postgres://app:" + "canary-7f3a9c1e" + "@db/x' AS id"
"""


@pytest.fixture
def secretive(project):
    """A project whose source is a folder with a secret name."""
    project.declare(PROJECT)
    project.sqlite("out.db", "CREATE TABLE x (id INTEGER)")
    folder = project.path / CANARY
    folder.mkdir()
    (folder / "t.csv").write_text("idd\n1\n")
    project.secret_path = {"SECRET_PATH": str(folder)}
    return project


def seen(project, *answers):
    """Everything that a person or a program could read afterwards."""
    kept = (project.path / ".ematix-flow").rglob("*")
    files = [file.read_text(errors="replace") for file in kept if file.is_file()]
    return "\n".join([*files, *(text for done in answers for text in (done.stdout, done.stderr))])


@pytest.mark.proves("no-secret")
@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["plan"],
        ["plan", "load"],
        ["plan", "leaks"],
        ["explain", "load"],
        ["explain", "leaks", "--format", "json"],
        ["doctor"],
        ["doctor", "--format", "json"],
        ["run", "load"],
        ["run", "raises", "-v"],
        ["run", "leaks", "--format", "json", "-v"],
        ["run", "load", "--engine", f"sc://localhost:1/;token={CANARY}", "-v"],
        ["explain", "load", "--engine", f"sc://localhost:1/;token={CANARY}"],
        ["doctor", "--engine", f"sc://localhost:1/;token={CANARY}"],
        ["run", "load", "--engine", f"nonsense;token={CANARY}"],
    ],
    ids=lambda arguments: " ".join(arguments).replace(CANARY, "..."),
)
def test_no_secret_in_any_output(secretive, arguments):
    done = secretive.cli(*arguments, env=secretive.secret_path)
    assert CANARY not in seen(secretive, done)
    assert done.stdout or done.stderr


@pytest.mark.proves("no-secret")
def test_no_secret_in_what_is_remembered_of_a_failed_run(secretive):
    failed = secretive.cli("run", "raises", env=secretive.secret_path)
    assert failed.returncode == 1, failed.stdout
    # Asked without the variable: what was remembered must be clean, not only what is shown.
    shown = secretive.cli("runs")
    data = secretive.cli("runs", "raises", "--format", "json")
    [run] = json.loads(data.stdout)["runs"]
    assert run["status"] == "failed"
    assert "cannot log in as app:***" in run["error"]["what"]
    assert "RuntimeError" in shown.stdout
    assert CANARY not in seen(secretive, failed, shown, data)


PLACES = ("spark", "toml", "home", "dsn", "environment")
CANARIES = {place: f"canary-of-{place}-5b1d" for place in PLACES}

CONFIGURED = f"""
[spark]
spark.hadoop.fs.s3a.secret.key = "{CANARIES["spark"]}"
"spark.hadoop.fs.s3a.access.key" = "AKIA-{CANARIES["spark"]}"
"spark.ssl.keyPassword" = "open canary-sesame"

[connections.landing]
kind = "csv"
path = "${{TOML_PASS}}"

[connections.unused]
kind = "postgres"
password = "{CANARIES["toml"]}"
"""

TELLS_ALL = """
@ematix.connection
class out:
    kind = "sqlite"
    path = "out.db"

@ematix.table
class T:
    id: BigInt

@ematix.pipeline(target=T, source_connection="landing", target_connection="out")
def load():
    return "SELECT id FROM t"

@ematix.pipeline(target=T, source_connection="out", target_connection="out")
def tells_all():
    raise RuntimeError("it is known: {all}")
"""


@pytest.fixture
def configured(project):
    """A project with a secret in each place beside its code, and a pipeline that tells them."""
    project.declare(TELLS_ALL.replace("{all}", " ".join(CANARIES.values())))
    project.write("ematix-flow.toml", CONFIGURED)
    project.write(
        "home/.ematix-flow/connections.toml",
        '[connections.elsewhere]\nkind = "csv"\npath = "${HOME_PASS}"\n',
    )
    project.sqlite("out.db", "CREATE TABLE x (id INTEGER)")
    folder = project.path / CANARIES["toml"]
    folder.mkdir()
    (folder / "t.csv").write_text("id\n1\n")
    project.secrets = {
        "HOME": str(project.path / "home"),
        "TOML_PASS": CANARIES["toml"],
        "HOME_PASS": CANARIES["home"],
        "ENVIRONMENT_PASS": CANARIES["environment"],
        "EMATIX_FLOW_DSN_SHOP": f"postgres://app:{CANARIES['dsn']}@db/shop",
        "EMATIX_FLOW_CSV_OTHER_PATH": "${ENVIRONMENT_PASS}/x",
    }
    return project


@pytest.mark.proves("no-secret")
@pytest.mark.parametrize(
    ("arguments", "evidence"),
    [
        (["explain", "load"], "spark.hadoop.fs.s3a.secret.key = ***  (set in "),
        (["explain", "load", "--format", "json"], '"key": "spark.hadoop.fs.s3a.access.key"'),
        (["plan", "load"], "load"),
        (["doctor"], "connection landing"),
        (["doctor", "--format", "json"], "connection landing"),
        (["run", "tells_all", "-v"], "it is known: *** *** *** *** ***"),
        (["run", "tells_all", "--format", "json"], "it is known: *** *** *** *** ***"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_no_secret_of_any_place_in_any_output(configured, arguments, evidence):
    done = configured.cli(*arguments, env=configured.secrets)
    text = seen(configured, done)
    assert evidence in done.stdout + done.stderr, text
    for canary in (*CANARIES.values(), "canary-sesame"):
        assert canary not in text


@pytest.mark.proves("no-secret")
def test_no_secret_of_any_place_in_what_is_remembered(configured):
    failed = configured.cli("run", "tells_all", env=configured.secrets)
    shown = configured.cli("runs", "--format", "json")
    [run] = json.loads(shown.stdout)["runs"]
    assert run["error"]["what"].endswith("it is known: *** *** *** *** ***")
    text = seen(configured, failed, shown)
    for canary in CANARIES.values():
        assert canary not in text
