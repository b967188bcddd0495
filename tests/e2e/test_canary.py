"""A secret put in everywhere must come out nowhere."""

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
        ["runs", "--format", "json"],
    ],
    ids=lambda arguments: " ".join(arguments).replace(CANARY, "..."),
)
def test_no_secret_in_any_output(project, arguments):
    project.declare(PROJECT)
    project.sqlite("out.db", "CREATE TABLE x (id INTEGER)")
    folder = project.path / CANARY
    folder.mkdir()
    (folder / "t.csv").write_text("idd\n1\n")
    done = project.cli(*arguments, env={"SECRET_PATH": str(folder)})
    seen = done.stdout + done.stderr
    for file in (project.path / ".ematix-flow").rglob("*"):
        if file.is_file():
            seen += file.read_text(errors="replace")
    assert CANARY not in seen
    assert done.stdout or done.stderr
