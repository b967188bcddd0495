"""Tables that were there before flow was: other encodings, collations and references."""

from __future__ import annotations

import pytest

from ematix_flow.errors import DriftError, NeedsConsent
from tests.backends.conftest import DATABASES
from tests.backends.places import Places

PROJECT = """
@ematix.table
class Held:
    id: {key}
    words: String[20] | None
    seen: BigInt | None

@ematix.pipeline(
    target=Held, mode="{mode}", source_connection="{source}", target_connection="out", {options}
)
def load():
    return "SELECT id, words, seen FROM given"
"""
NUMBER = "Annotated[BigInt, pk()]"
WORD = "Annotated[String[20], natural_key()]"
LATIN = "VARCHAR(20) CHARACTER SET latin1"


def flow_into(
    places: Places,
    kind: str,
    mode: str,
    key: str = NUMBER,
    options: str = "",
    *,
    source: str = "db",
):
    connections = places.declare("db", "sqlite") + places.declare("out", kind)
    project = PROJECT.format(key=key, mode=mode, options=options, source=source)
    places.project.declare(connections + project)
    return places.project.flow(environ={**places.environ(), "EMATIX_FLOW_DIRECT_UP_TO": "1 GB"})


def given(places: Places, *rows: str, kind: str = "BIGINT") -> None:
    create = f"CREATE TABLE given (id {kind}, words TEXT, seen BIGINT)"
    places.execute("db", "sqlite", create, f"INSERT INTO given VALUES {', '.join(rows)}")


@pytest.mark.services
@pytest.mark.proves("mysql-exact-text", "lookback", "merge-idempotent")
@pytest.mark.parametrize(
    ("mode", "key", "options"),
    [
        ("merge", NUMBER, ""),
        ("scd2", NUMBER, ""),
        ("scd2", NUMBER, 'sequence_by="seen",'),
        ("append", "BigInt", 'incremental_column="seen", lookback=100,'),
    ],
)
def test_text_is_the_same_in_another_encoding(places, mode, key, options):
    given(places, "(1, 'Köln', 1)", "(2, 'Bonn', 2)")
    flow = flow_into(places, "mysql", mode, key, options)
    assert flow.run("load").rows.inserted == 2
    places.execute("out", "mysql", f"ALTER TABLE held MODIFY words {LATIN} NULL")
    rows = flow.run("load", new=True).rows
    assert (rows.inserted, rows.updated, rows.closed) == (0, 0, 0)
    held = places.rows("out", "SELECT id, words FROM held ORDER BY id")
    assert held == [(1, "Köln"), (2, "Bonn")]


@pytest.mark.services
@pytest.mark.proves("mysql-exact-text")
def test_a_key_is_the_same_in_another_encoding(places):
    given(places, "('Köln', 'a', 1)", "('Bonn', 'b', 2)", kind="TEXT")
    flow = flow_into(places, "mysql", "merge", "Annotated[String[20], pk()]")
    flow.run("load")
    places.execute("out", "mysql", f"ALTER TABLE held MODIFY id {LATIN} NOT NULL")
    places.execute("db", "sqlite", "UPDATE given SET words = 'c' WHERE id = 'Köln'")
    rows = flow.run("load", new=True).rows
    assert (rows.inserted, rows.updated, rows.unchanged) == (0, 1, 1)


@pytest.mark.services
@pytest.mark.proves("paths-agree")
def test_a_condition_is_the_same_in_another_encoding(places):
    create = f"CREATE TABLE given (id BIGINT, words {LATIN}, seen BIGINT)"
    rows = "INSERT INTO given VALUES (1, 'Köln', 1), (2, 'Bonn', 2)"
    places.execute("out", "mysql", create, rows)
    where = """transforms_pre=[filter_where("words = 'Köln'")],"""
    flow = flow_into(places, "mysql", "truncate", options=where, source="out")
    done = flow.run("load")
    assert (done.path, done.rows.inserted) == ("in_database", 1)


REFERRING = """
CREATE TABLE child (held BIGINT, FOREIGN KEY (held) REFERENCES held (id) ON DELETE {rule})
"""


@pytest.mark.services
@pytest.mark.proves("drift-consent", "nothing-half-written")
@pytest.mark.parametrize(
    ("rule", "told", "left"),
    [("CASCADE", "deletes those of child", []), ("SET NULL", "refer to them no more", [(None,)])],
)
@pytest.mark.parametrize("kind", ["postgres", "mysql"])
def test_truncate_does_not_take_along_what_refers_to_its_rows(places, kind, rule, told, left):
    given(places, "(1, 'a', 1)")
    flow = flow_into(places, kind, "truncate")
    flow.run("load")
    places.execute("out", kind, REFERRING.format(rule=rule), "INSERT INTO child VALUES (1)")
    [lost] = flow.plan("load").destructive
    assert told in lost
    assert f"(ON DELETE {rule})" in lost
    with pytest.raises(NeedsConsent, match=told):
        flow.run("load", new=True)
    # What is undone needs no consent.
    assert flow.dry_run("load").rows.inserted == 1
    assert places.rows("out", "SELECT held FROM child") == [(1,)]
    # A merge deletes nothing that comes back.
    assert flow_into(places, kind, "merge").plan("load").destructive == ()
    flow_into(places, kind, "truncate").run("load", new=True, allow_destructive=True)
    assert places.rows("out", "SELECT held FROM child") == left


CASELESS = (
    "CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
)
FOLDING = {
    "sqlite": "TEXT COLLATE NOCASE",
    "duckdb": "VARCHAR COLLATE NOCASE",
    "postgres": "VARCHAR(20) COLLATE caseless",
    "mysql": "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
}
PLAIN = {"sqlite": "TEXT", "duckdb": "VARCHAR", "postgres": "VARCHAR(20)"}
# MySQL matches keys exactly all the same.
FOLDED = DATABASES[:3]


def there_already(places: Places, kind: str, columns: str) -> None:
    listed = columns.format(folding=FOLDING[kind], plain=PLAIN.get(kind))
    first = (CASELESS,) if kind == "postgres" else ()
    places.execute("out", kind, *first, f"CREATE TABLE held ({listed}, seen BIGINT)")


@pytest.mark.proves("merge-changes")
@pytest.mark.parametrize("kind", DATABASES)
def test_a_value_that_differs_in_case_alone_is_a_change(places, kind):
    there_already(places, kind, "id BIGINT NOT NULL PRIMARY KEY, words {folding}")
    given(places, "(1, 'a', 1)", "(2, 'b', 2)")
    flow = flow_into(places, kind, "merge")
    flow.run("load")
    places.execute("db", "sqlite", "UPDATE given SET words = 'A' WHERE id = 1")
    rows = flow.run("load", new=True).rows
    assert (rows.updated, rows.unchanged) == (1, 1)
    assert places.rows("out", "SELECT words FROM held ORDER BY id") == [("A",), ("b",)]


@pytest.mark.proves("lookback")
@pytest.mark.parametrize("kind", DATABASES)
def test_a_row_that_differs_in_case_alone_is_another_row(places, kind):
    there_already(places, kind, "id BIGINT NOT NULL, words {folding}")
    given(places, "(1, 'a', 1)")
    options = 'incremental_column="seen", lookback=100,'
    flow = flow_into(places, kind, "append", "BigInt", options)
    flow.run("load")
    places.execute("db", "sqlite", "INSERT INTO given VALUES (1, 'A', 1)")
    assert flow.run("load", new=True).rows.inserted == 1
    assert flow.run("load", new=True).rows.inserted == 0


@pytest.mark.proves("drift-policies", "mistakes-told")
@pytest.mark.parametrize("kind", FOLDED)
def test_a_key_that_its_table_folds_is_refused(places, kind):
    there_already(places, kind, "id {folding} NOT NULL, words {plain}")
    given(places, "('a', 'x', 1)", "('A', 'y', 2)", kind="TEXT")
    told = "key id has the collation (?i:nocase|caseless), for which texts that differ may be one"
    with pytest.raises(DriftError, match=told) as caught:
        flow_into(places, kind, "merge", WORD).plan("load")
    assert caught.value.hint
    if kind != "sqlite":
        places.execute("out", kind, caught.value.hint)
        assert flow_into(places, kind, "merge", WORD).run("load").rows.inserted == 2
    # Where rows only grow, nothing is matched.
    assert flow_into(places, kind, "append", "String[20]").run("load").rows.inserted == 2


@pytest.mark.proves("keys-by-column", "paths-agree")
@pytest.mark.parametrize("kind", DATABASES)
def test_keys_that_their_source_folds_are_different_keys(places, kind):
    there_already(places, kind, "id {folding}, words {folding}")
    rows = "INSERT INTO given VALUES ('a', 'x', 1), ('A', 'y', 2)"
    places.execute("out", kind, "ALTER TABLE held RENAME TO given", rows)
    done = flow_into(places, kind, "merge", WORD, source="out").run("load")
    assert (done.path, done.rows.inserted) == ("in_database", 2)
