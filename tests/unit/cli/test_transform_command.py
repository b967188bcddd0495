"""`flow transform`: listed and run, with no Spark."""

import pytest

from ematix_flow.errors import FlowError, NotSupported, UnknownName

PROJECT = """
@ematix.connection
class house:
    kind = "sqlite"
    path = "house.db"

@ematix.transform(target_connection="house")
def tidy():
    "Throw old things away."
    return "DELETE FROM things WHERE old; -- gone; for good\\nUPDATE things SET seen = 1"

@ematix.transform(target_connection="house")
def halfway():
    return "DELETE FROM things; DELETE FROM nowhere"

@ematix.transform(target_connection="house")
def nothing():
    return None

@ematix.transform(target_connection="house", dialect="postgres")
def foreign():
    return "DELETE FROM things"
"""


@pytest.fixture
def house(project):
    project.declare(PROJECT)
    project.sqlite(
        "house.db",
        "CREATE TABLE things (id INTEGER, old BOOLEAN, seen INTEGER)",
        "INSERT INTO things VALUES (1, true, 0), (2, false, 0), (3, false, 0)",
    )
    return project


@pytest.mark.slow
def test_a_transform_runs_in_its_database(house):
    listed = house.cli("transform", "list").stdout
    assert "tidy" in listed
    done = house.cli("transform", "run", "tidy")
    assert done.stdout.strip() == "tidy: done, 2 statements, 3 rows changed", done.stderr
    assert house.rows("house.db", "SELECT id, seen FROM things") == [(2, 1), (3, 1)]


@pytest.mark.proves("nothing-half-written")
def test_a_transform_that_fails_changes_nothing(house):
    with pytest.raises(FlowError, match="nowhere"):
        house.flow().run_transform("halfway")
    assert house.rows("house.db", "SELECT count(*) FROM things") == [(3,)]


def test_what_is_no_transform_is_told(house):
    flow = house.flow()
    with pytest.raises(UnknownName, match="did you mean 'tidy'"):
        flow.run_transform("tidi")
    with pytest.raises(FlowError, match="transform 'nothing' returned NoneType, not SQL"):
        flow.run_transform("nothing")
    with pytest.raises(NotSupported, match="is written in postgres"):
        flow.run_transform("foreign")
