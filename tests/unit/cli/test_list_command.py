"""`flow list`."""

import json

from ematix_flow.cli.root import flow

PROJECT = """
connect("app", kind="sqlite", path="app.db")
connect("one", kind="sqlite", path="one.db")
connect("two", kind="duckdb", path="two.db")

@ematix.table
class Orders:
    id: Annotated[BigInt, pk()]

@ematix.pipeline(
    source_connection="app",
    targets=[
        ematix.target(Orders, "one", mode="append"), ematix.target(Orders, "two", mode="merge"),
    ],
)
def load():
    return "SELECT id FROM orders"
"""


def listed(project, capsys, *words):
    project.declare(PROJECT)
    flow.main(["list", "--project", str(project.path), *words], standalone_mode=False)
    return capsys.readouterr().out


def test_programs_are_told_of_every_target(project, capsys):
    [load] = json.loads(listed(project, capsys, "--format", "json"))["pipelines"]
    assert load["targets"] == [
        {"connection": "one", "table": "orders", "mode": "append"},
        {"connection": "two", "table": "orders", "mode": "merge"},
    ]


def test_people_are_told_of_every_target(project, capsys):
    text = listed(project, capsys)
    assert "append, merge" in text
    assert "one.orders, two.orders" in text
