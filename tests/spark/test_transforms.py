"""Steps around a load, several targets, and targets that are not as declared."""

import pytest

from ematix_flow.errors import FlowError
from ematix_flow.observe.events import Noticed

PROJECT = """
from ematix_flow import deduplicate_by, filter_where, limit, sample_pct

@ematix.connection
class app:
    kind = "sqlite"
    path = "app.db"

@ematix.connection
class out:
    kind = "duckdb"
    path = "out.duckdb"

@ematix.connection
class lite:
    kind = "sqlite"
    path = "out.db"

@ematix.table
class People:
    id: Annotated[BigInt, pk()]
    name: Text | None

@ematix.table
class Names:
    name: Annotated[Text, pk()]

@ematix.transform(target_connection="out")
def shout():
    return "SELECT id, upper(name) AS name FROM source"

@ematix.transform(name="count_them", target_connection="out")
def counted():
    return "CREATE TABLE counts (n BIGINT); INSERT INTO counts SELECT count(*) FROM people;"

def without_ada(rows):
    return rows.where("name <> 'Ada'")

def told(tgt):
    return f"CREATE TABLE told AS SELECT ';{tgt}' AS target"

def broken():
    raise ValueError("no luck")

@ematix.pipeline(source_connection="app", %s)
def load():
    return "SELECT id, name FROM people"
"""
ONE = "target=People, target_connection='out', "
ROWS = [(1, "Ada"), (1, "Ada II"), (2, "Bob"), (3, "Cy"), (4, "Di")]


@pytest.fixture
def people(project, spark):
    project.sqlite(
        "app.db",
        "CREATE TABLE people (id INTEGER, name TEXT)",
        *(f"INSERT INTO people VALUES {row!r}" for row in ROWS),
    )

    def run(keywords, **options):
        project.declare(PROJECT % keywords)
        return project.flow(session=spark, **options).run("load")

    return run


def stored(project, database="out.duckdb", what="id, name"):
    return project.rows(database, f"SELECT {what} FROM people ORDER BY id")


@pytest.mark.proves("column-map")
def test_rows_pass_through_the_steps_in_order(people, project):
    steps = """
        deduplicate_by("ID", order_by="length(name) DESC"),
        filter_where("id < 4"),
        "SELECT source.id, name || '!' AS name FROM source -- of it all",
        without_ada,
        ematix.transform_ref("shout"),
        limit(10),
        sample_pct(100),
    """
    result = people(f"{ONE} transforms_pre=[{steps}]")
    assert result.rows.inserted == 3
    assert stored(project) == [(1, "ADA II!"), (2, "BOB!"), (3, "CY!")]


def test_a_sample_is_the_same_each_time_and_about_as_large_as_asked(people, project):
    project.sqlite(
        "app.db",
        "DELETE FROM people",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
        "INSERT INTO people SELECT i, 'x' FROM n",
    )
    sampled = f"{ONE} mode='truncate', transforms_pre=sample_pct(10, seed=7)"
    first = people(sampled).rows.inserted
    assert 150 < first < 250
    before = stored(project)
    people(sampled)
    assert stored(project) == before


def test_what_is_wrong_with_a_step_is_told_at_the_users_line(people):
    with pytest.raises(FlowError, match="does not read source") as refused:
        people(f"{ONE} transforms_pre='SELECT 1 AS id'")
    assert "pipelines.py:" in str(refused.value)
    with pytest.raises(FlowError, match="unknown column in deduplicate_by: 'nr'"):
        people(f"{ONE} transforms_pre=deduplicate_by('nr', order_by='id')")


UNIQUE = "transforms_pre=deduplicate_by('id', order_by='name')"


@pytest.mark.proves("column-map")
def test_steps_after_the_load_see_its_rows(people, project):
    people(f"{ONE} {UNIQUE}, transforms_post=[ematix.transform_ref('count_them'), told]")
    assert project.rows("out.duckdb", "SELECT * FROM counts") == [(4,)]
    assert project.rows("out.duckdb", "SELECT * FROM told") == [(";people",)]


@pytest.mark.proves("column-map")
def test_a_step_after_the_load_that_fails_halts_those_behind_it(people, project):
    late = "transforms_post=['INSERT INTO nowhere VALUES (1)', told]"
    with pytest.raises(FlowError, match="nowhere"):
        people(f"{ONE} {UNIQUE}, {late}")
    assert len(stored(project)) == 4
    tables = "SELECT table_name FROM information_schema.tables WHERE table_name = 'told'"
    assert project.rows("out.duckdb", tables) == []
    again = people(f"{ONE} {UNIQUE}, mode='truncate', {late}, continue_on_failure_post=True")
    assert again.status == "succeeded"
    assert project.rows("out.duckdb", tables) == [("told",)]


@pytest.mark.proves("column-map")
def test_each_of_several_targets_has_its_own_names_and_mode(people, project):
    targets = """targets=[
        ematix.target(People, "out", mode="merge"),
        ematix.target("persons", "lite", mode="truncate", column_map={"id": "nr"}),
    ]"""
    for _ in range(2):
        people(f"{targets}, {UNIQUE}")
    assert len(stored(project)) == 4
    assert project.rows("out.db", "SELECT nr, name FROM persons ORDER BY nr")[0] == (1, "Ada")
    text = str(project.flow().plan("load").targets)
    assert "persons" in text


@pytest.mark.proves("drift-policies")
def test_a_column_that_the_target_lacks_is_let_go(people, project):
    project.sqlite("out.db", "CREATE TABLE people (id INTEGER PRIMARY KEY NOT NULL)")
    into = "target=People, target_connection='lite', "
    plan_note = "people.name: its value is discarded (the table lacks name)"
    people(f"{into} {UNIQUE}, on_drift='discard_value'")
    assert stored(project, "out.db", "id") == [(1,), (2,), (3,), (4,)]
    assert plan_note in str(project.flow().plan("load").remarks)


@pytest.mark.proves("drift-policies")
def test_rows_with_a_value_that_does_not_fit_are_set_aside(people, project):
    project.sqlite("app.db", "UPDATE people SET name = NULL WHERE id > 2")
    project.sqlite("out.db", "CREATE TABLE people (id INTEGER PRIMARY KEY NOT NULL)")
    result = people(f"target=People, target_connection='lite', {UNIQUE}, on_drift='discard_row'")
    assert (result.rows.inserted, result.rows.quarantined) == (2, 2)
    assert stored(project, "out.db", "id") == [(3,), (4,)]


@pytest.mark.proves("drift-policies")
def test_a_value_that_the_targets_type_cannot_hold_is_let_go(people, project):
    import duckdb

    with duckdb.connect(str(project.path / "out.duckdb")) as database:
        database.execute("CREATE TABLE people (id BIGINT PRIMARY KEY, name INTEGER)")
    project.sqlite("app.db", "UPDATE people SET name = '42' WHERE id = 2")
    noticed = []
    result = people(f"{ONE} {UNIQUE}, on_drift='discard_value'", observer=noticed.append)
    assert result.rows.inserted == 4
    assert stored(project) == [(1, None), (2, 42), (3, None), (4, None)]
    told = [event.text for event in noticed if isinstance(event, Noticed)]
    assert told == ["3 values of name did not fit people"]


def test_nothing_of_a_key_is_let_go(people, project):
    project.sqlite("out.db", "CREATE TABLE people (name TEXT)")
    with pytest.raises(FlowError, match="id is declared but missing") as refused:
        people(f"target=People, target_connection='lite', {UNIQUE}, on_drift='discard_row'")
    assert "nothing of a key can be discarded" in str(refused.value)
