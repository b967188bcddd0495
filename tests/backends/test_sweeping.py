"""What runs leave in staging: swept by the next run of their pipeline, and by nobody else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ematix_flow.observe.events import StepStarted
from tests.backends.without_spark import loading_without_spark
from tests.projects import ProjectFolder

ORDERS = """
@ematix.connection
class landing:
    kind = "csv"
    path = "data"

@ematix.connection
class out:
    kind = "{kind}"
    path = "out.db"

@ematix.table
class Orders:
    order_id: BigInt
    customer: String[8]

@ematix.table
class Copies:
    order_id: BigInt
    customer: String[8]

WAY = dict(mode="append", source_connection="landing", target_connection="out")

@ematix.pipeline(target=Orders, **WAY)
def load_orders():
    return "SELECT order_id, customer FROM orders"

@ematix.pipeline(target=Copies, **WAY)
def load_copies():
    return "SELECT order_id, customer FROM orders"
"""


def declared(project: ProjectFolder, kind: str, config: str = "") -> ProjectFolder:
    project.declare(ORDERS.format(kind=kind))
    project.csv("orders", ("order_id", "customer"), [("1", "ada")])
    if config:
        project.write("ematix-flow.toml", config)
    return project


def run_during_commit(project: ProjectFolder, during: Callable[[], object]) -> int:
    """Run `load_orders`, and something else when its rows are staged and not yet committed."""

    def observe(event: object) -> None:
        if isinstance(event, StepStarted) and event.step == "commit":
            done.append(during())

    done: list[object] = []
    with loading_without_spark():
        ran = project.flow(observer=observe).run("load_orders")
    assert len(done) == 1
    return ran.rows.inserted


def count(project: ProjectFolder, table: str) -> int:
    [[found]] = project.rows("out.db", f"SELECT count(*) FROM {table}")
    return int(str(found))


@pytest.mark.proves("sweep-own")
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_run_leaves_the_staged_rows_of_another_pipelines_run(project, kind):
    declared(project, kind)
    staging = project.path / ".ematix-flow" / "staging"
    for pipeline in ("load_orders", "load_copies", "load_other"):
        left = staging / pipeline / "of-a-dead-run"
        left.mkdir(parents=True)
        (left / "part-0.parquet").write_bytes(b"")

    def another():
        found = project.flow().run("load_copies")
        # Its own is gone; that of the live run is there, and what belongs to others.
        assert not (staging / "load_copies" / "of-a-dead-run").exists()
        [live] = (staging / "load_orders").iterdir()
        assert (live / "part-0.parquet").stat().st_size
        return found

    assert run_during_commit(project, another) == 2
    assert (count(project, "orders"), count(project, "copies")) == (2, 2)
    assert [each.name for each in staging.glob("*/*")] == ["of-a-dead-run"]
    assert (staging / "load_other" / "of-a-dead-run").exists()


@pytest.mark.proves("sweep-own")
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_projects_that_share_a_folder_leave_each_other_alone(make_project, tmp_path, kind):
    """Two checkouts, each with its own database, and pipelines of the same name."""
    shared = f'staging_path = "{tmp_path / "shared"}"\n'
    ours, theirs = (declared(make_project(name), kind, shared) for name in ("ours", "theirs"))

    def another():
        return theirs.flow().run("load_orders")

    assert run_during_commit(ours, another) == 2
    assert (count(ours, "orders"), count(theirs, "orders")) == (2, 2)
    assert not [each for each in (tmp_path / "shared").rglob("*") if each.is_file()]
