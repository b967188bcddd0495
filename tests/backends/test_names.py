"""Names that an owner of a database may give, and that SQL reads as something else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ematix_flow.errors import FlowError
from tests.backends.places import Places
from tests.backends.test_paths import KINDS
from tests.services.mysql_family import connect as mysql_client

# Quotes of every dialect, dots, blanks, reserved words, what drivers take for parameters, what
# looks like the end of a statement, and signs of three bytes and, where names hold them, of four.
SOURCE = 'gi"ven.`t` ☕'
TABLE = 'or"der.`s` select ☕'
FOUR_BYTES = "😀"
SCHEMA = 'sch"e.`m a'
KEY = 'i"d.`k`'
VALUES = ("sel.ect", "group", "100%s wh?t", "it's; --", "☕ x", "back\\slash", "{x} :y $1")
SEQUENCE = 'at "when"'
DELETES = "o.p p"
ALL = (KEY, *VALUES, SEQUENCE)

PROJECT = """
Odd = ematix.table(name={table!r}, schema={schema!r})(
    type("Odd", (), {{"__annotations__": {{
        {key!r}: {key_type},
        **dict.fromkeys({values!r}, Text | None),
        {sequence!r}: BigInt,
    }}}})
)

@ematix.pipeline(target=Odd, source_connection="db", target_connection="out", {options})
def load():
    return {query!r}
"""
OPTIONS = {
    "append": f"mode='append', incremental_column={SEQUENCE!r}",
    "merge": f"mode='merge', sequence_by={SEQUENCE!r}, apply_as_deletes=\"`{DELETES}` = 'D'\"",
    "scd2": f"mode='scd2', sequence_by={SEQUENCE!r}, apply_as_deletes=\"`{DELETES}` = 'D'\"",
}
# Key, what all its values are, its place in the order, and D where it is deleted.
DAYS = (
    (("k", "old", 1, "I"), ("l", "old", 1, "I")),
    (("k", "new", 3, "U"), ("l", "old", 2, "D")),
    (("k", "late", 2, "U"), ("m", "old", 4, "I")),
)
LOADED = {
    # The late one lies below the watermark.
    "append": [("k", "new"), ("k", "old"), ("l", "old"), ("l", "old"), ("m", "old")],
    "merge": [("k", "new"), ("m", "old")],
    "scd2": [("k", "late"), ("k", "new"), ("k", "old"), ("l", "old"), ("m", "old")],
}
TYPES = {"sqlite": "TEXT", "duckdb": "TEXT", "postgres": "text", "mysql": "varchar(99)"}


def quoted(name: str, kind: str) -> str:
    mark = "`" if kind == "mysql" else '"'
    return f"{mark}{name.replace(mark, 2 * mark)}{mark}"


@pytest.fixture
def schema(places: Places, request: pytest.FixtureRequest) -> Iterator[str]:
    """A schema of the target; in MariaDB it is another database, which nobody else takes down."""
    kind = request.getfixturevalue("kind")
    if kind != "mysql":
        yield SCHEMA
        return
    found = places.database("out", kind)
    name = f"{found.name} {SCHEMA}"
    yield name
    with mysql_client(found.server, autocommit=True) as connection:
        connection.cursor().execute(f"DROP DATABASE IF EXISTS {quoted(name, kind)}")


def declared(places: Places, kind: str, schema: str, mode: str):
    names = ALL if mode == "append" else (*ALL, DELETES)
    listed = ", ".join(quoted(name, kind) for name in names)
    project = PROJECT.format(
        table=table_name(kind),
        schema=schema,
        key=KEY,
        key_type="Text" if mode == "append" else "Annotated[Text, pk()]",
        values=VALUES,
        sequence=SEQUENCE,
        options=OPTIONS[mode],
        query=f"SELECT {listed} FROM {quoted(SOURCE, kind)}",
    )
    places.project.declare(places.declare("db", kind) + places.declare("out", kind) + project)
    environ = {**places.environ(), "EMATIX_FLOW_DIRECT_UP_TO": "1 GB"}
    return places.project.flow(environ=environ)


def create_source(places: Places, kind: str) -> None:
    texts = ", ".join(f"{quoted(name, kind)} {TYPES[kind]}" for name in (KEY, *VALUES, DELETES))
    columns = f"{texts}, {quoted(SEQUENCE, kind)} BIGINT"
    places.execute("db", kind, f"CREATE TABLE {quoted(SOURCE, kind)} ({columns})")


def hold(places: Places, kind: str, day: tuple[tuple[str, str, int, str], ...]) -> None:
    """Let the source hold the rows of one day."""
    source = quoted(SOURCE, kind)
    names = ", ".join(quoted(name, kind) for name in (*ALL, DELETES))
    rows = (
        ", ".join((f"'{key}'", *([f"'{value}'"] * len(VALUES)), str(at), f"'{op}'"))
        for key, value, at, op in day
    )
    inserts = (f"INSERT INTO {source} ({names}) VALUES ({row})" for row in rows)
    places.execute("db", kind, f"DELETE FROM {source}", *inserts)


def table_name(kind: str) -> str:
    return TABLE if kind == "mysql" else TABLE + FOUR_BYTES


def target(schema: str, kind: str, prefix: str = "") -> str:
    if kind == "sqlite":
        return quoted(f"{prefix}{schema}__{table_name(kind)}", kind)
    return f"{quoted(schema, kind)}.{quoted(prefix + table_name(kind), kind)}"


@pytest.mark.proves("hostile-names")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", OPTIONS)
def test_names_may_be_anything(places, kind, schema, mode):
    create_source(places, kind)
    flow = declared(places, kind, schema, mode)
    for day in DAYS:
        hold(places, kind, day)
        assert flow.run("load").path == "direct"
    listed = ", ".join(quoted(name, kind) for name in (KEY, *VALUES))
    found = sorted(places.rows("out", f"SELECT {listed} FROM {target(schema, kind)}"))
    assert found == [(key, *([value] * len(VALUES))) for key, value in LOADED[mode]]
    if mode != "append":
        companion = target(schema, kind, "_flow_seq_")
        [(remembered,)] = places.rows("out", f"SELECT count(*) FROM {companion}")
        assert remembered
    # What reads it back finds the same names, and no drift.
    assert flow.plan("load").first.diff.changes == ()


SMILE = """
Smile = ematix.table(name={table!r})(
    type("Smile", (), {{"__annotations__": {{{column!r}: BigInt}}}})
)

@ematix.pipeline(target=Smile, source_connection="db", target_connection="out")
def load():
    return 'SELECT id AS "{column}" FROM given'
"""


@pytest.mark.proves("hostile-names", "mistakes-told")
@pytest.mark.services
@pytest.mark.parametrize(("table", "column"), [(FOUR_BYTES, "id"), ("smile", FOUR_BYTES)])
def test_a_name_that_mysql_cannot_hold_is_refused_by_the_plan(places, table, column):
    places.execute("db", "sqlite", "CREATE TABLE given (id BIGINT)")
    connections = places.declare("db", "sqlite") + places.declare("out", "mysql")
    places.project.declare(connections + SMILE.format(table=table, column=column))
    with pytest.raises(FlowError) as refused:
        places.project.flow(environ=places.environ()).plan("load")
    assert f"{FOUR_BYTES!r} cannot be" in str(refused.value)
