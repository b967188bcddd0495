"""Several targets of one pipeline, of which a database refuses one: the others have their rows."""

from __future__ import annotations

import pytest

from ematix_flow.errors import TargetError
from ematix_flow.record.run import RunStatus
from tests.backends.test_paths import (
    KINDS,
    spark,  # noqa: F401  # a fixture
)

PROJECT = """
@ematix.table
class Taken:
    id: BigInt
    name: Text | None

@ematix.table
class Refused:
    id: BigInt
    name: Text | None

@ematix.pipeline(
    targets=[ematix.target({first}, "out"), ematix.target({second}, "out")],
    source_connection="db", incremental_column="id", continue_on_failure=True,
)
def load():
    return "SELECT id, name FROM given"
"""
TEXTS = {"sqlite": "TEXT", "duckdb": "VARCHAR", "postgres": "text", "mysql": "longtext"}
CREATE = "CREATE TABLE refused (id BIGINT NOT NULL, name {text}{rule})"
# Where the other target comes first, and where second: it is loaded either way.
ORDERS = {"sqlite": 1, "duckdb": -1, "postgres": 1, "mysql": -1}


@pytest.mark.proves("several-targets", "failed-keeps-watermark", "nothing-half-written")
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_database_refuses_is_loaded_alone_the_next_time(places, spark, kind):  # noqa: F811
    places.execute(
        "db",
        "sqlite",
        "CREATE TABLE given (id BIGINT, name TEXT)",
        "INSERT INTO given VALUES (1, 'ada'), (2, 'bob')",
    )
    rule = CREATE.format(text=TEXTS[kind], rule=", CHECK (id <> 2)")
    places.execute("out", kind, rule)
    first, second = ("Taken", "Refused")[:: ORDERS[kind]]
    connections = places.declare("db", "sqlite") + places.declare("out", kind)
    places.project.declare(connections + PROJECT.format(first=first, second=second))
    flow = places.project.flow(environ=places.environ(), session=spark)

    with pytest.raises(TargetError):
        flow.run("load")
    [failed] = flow.runs()
    assert failed.status is RunStatus.FAILED
    assert {each.target: each.status.value for each in failed.targets} == {
        "taken": "succeeded",
        "refused": "failed",
    }
    taken, ledger = "SELECT * FROM taken ORDER BY id", "SELECT * FROM _flow_ledger"
    landed = places.rows("out", taken), places.rows("out", ledger)
    assert [row[:2] for row in landed[0]] == [(1, "ada"), (2, "bob")]
    assert len(landed[1]) == 1
    assert places.rows("out", "SELECT count(*) FROM refused") == [(0,)]

    # The owner drops the rule; and more has come meanwhile, which is the next run's.
    no_rule = CREATE.format(text=TEXTS[kind], rule="")
    places.execute("out", kind, "DROP TABLE refused", no_rule)
    places.execute("db", "sqlite", "INSERT INTO given VALUES (3, 'cy')")
    again = flow.run("load")
    assert (again.run_id, again.attempt, again.status.value) == (failed.run_id, 2, "succeeded")
    assert places.rows("out", taken) == landed[0]
    assert set(landed[1]) < set(places.rows("out", ledger))
    held = "SELECT id, name FROM refused ORDER BY id"
    assert places.rows("out", held) == [(1, "ada"), (2, "bob")]

    flow.run("load")
    assert places.rows("out", held) == [(1, "ada"), (2, "bob"), (3, "cy")]
    assert [row[:2] for row in places.rows("out", taken)] == [(1, "ada"), (2, "bob"), (3, "cy")]
