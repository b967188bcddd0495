"""What the steps of a run say of their rows."""

from __future__ import annotations

import sqlite3
from contextlib import closing

MERGED = """
connect("app", kind="sqlite", path="app.db")
connect("out", kind="sqlite", path="out.db")

@ematix.table
class Copied:
    id: Annotated[BigInt, pk()]
    name: Text

@ematix.pipeline(target=Copied, mode="merge", source_connection="app", target_connection="out")
def load():
    return "SELECT id, name FROM given"
"""


def committed(flow):
    return next(step.rows for step in flow.run("load").steps if step.step == "commit")


def test_a_commit_that_only_updates_counts_its_rows(project):
    project.declare(MERGED)
    project.sqlite(
        "app.db",
        "CREATE TABLE given (id BIGINT, name TEXT)",
        "INSERT INTO given VALUES (1, 'ada'), (2, 'alan')",
    )
    assert committed(project.flow()) == 2
    with closing(sqlite3.connect(project.path / "app.db")) as database, database:
        database.execute("UPDATE given SET name = 'grace' WHERE id = 2")
    assert committed(project.flow()) == 1
    assert committed(project.flow()) == 0
