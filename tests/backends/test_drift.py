"""A table that somebody altered while the job was down: each kind of change under each policy.

Altered by hand, with the database's own driver, between two runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ematix_flow.api import Flow
from ematix_flow.cli.root import main
from ematix_flow.errors import EXIT_CONSENT, DriftError
from tests.backends.places import Places
from tests.backends.test_paths import (
    KINDS,
    columns_of,
    spark,  # noqa: F401  # a fixture
)

PROJECT = """
@ematix.table
class Held:
    id: Annotated[BigInt, pk()]
    size: Integer | None
    code: String[8] | None
    name: Text
    note: Text | None

@ematix.pipeline(
    target=Held, mode="merge", source_connection="db", target_connection="out",
    on_drift="{policy}",
)
def load():
    return "SELECT id, size, code, name, note FROM given"
"""
DECLARED = ["id", "size", "code", "name", "note"]
GIVEN = "CREATE TABLE given (id BIGINT, size INTEGER, code TEXT, name TEXT, note TEXT)"
ADA = (1, 10, "a", "ada", "x")
# Its size fits no SMALLINT.
BOB = (2, 70_000, None, "bob", "y")
NOPAD = "CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"
# What is by hand another statement in each database. SQLite has none: see `by_hand`.
WIDENED, NARROWED, AS_TEXT, NOT_NULL, NULLABLE = (
    "size holds larger numbers",
    "size holds only small numbers",
    "size holds text",
    "code is never NULL",
    "name may be NULL",
)
ALTER = "ALTER TABLE held ALTER COLUMN"
STATEMENTS = {
    "postgres": {
        WIDENED: f"{ALTER} size TYPE bigint",
        NARROWED: f"{ALTER} size TYPE smallint",
        AS_TEXT: f"{ALTER} size TYPE text",
        NOT_NULL: f"{ALTER} code SET NOT NULL",
        NULLABLE: f"{ALTER} name DROP NOT NULL",
    },
    "duckdb": {
        WIDENED: f"{ALTER} size TYPE BIGINT",
        NARROWED: f"{ALTER} size TYPE SMALLINT",
        AS_TEXT: f"{ALTER} size TYPE VARCHAR",
        NOT_NULL: f"{ALTER} code SET NOT NULL",
        NULLABLE: f"{ALTER} name DROP NOT NULL",
    },
    "mysql": {
        WIDENED: "ALTER TABLE held MODIFY size BIGINT",
        NARROWED: "ALTER TABLE held MODIFY size SMALLINT",
        AS_TEXT: f"ALTER TABLE held MODIFY size VARCHAR(20) {NOPAD}",
        NOT_NULL: f"ALTER TABLE held MODIFY code VARCHAR(8) {NOPAD} NOT NULL",
        NULLABLE: f"ALTER TABLE held MODIFY name LONGTEXT {NOPAD} NULL",
    },
}
REDECLARED = {
    WIDENED: ('"size" INTEGER', '"size" BIGINT'),
    NARROWED: ('"size" INTEGER', '"size" SMALLINT'),
    NOT_NULL: ('"code" TEXT', '"code" TEXT NOT NULL'),
    NULLABLE: ('"name" TEXT NOT NULL', '"name" TEXT'),
}
ADDED = "ALTER TABLE held ADD COLUMN extra INTEGER"
DROPPED = "ALTER TABLE held DROP COLUMN note"
RENAMED = "ALTER TABLE held RENAME COLUMN note TO remark"


def by_hand(places: Places, kind: str, *changes: str) -> None:
    """Alter the table, in the words of its database."""
    for change in changes:
        if kind == "sqlite" and change in REDECLARED:
            # SQLite alters no column: its owner makes another table, and copies the rows.
            [(ddl,)] = places.rows("out", "SELECT sql FROM sqlite_master WHERE name = 'held'")
            old, new = REDECLARED[change]
            assert old in str(ddl)
            places.execute(
                *("out", kind, "ALTER TABLE held RENAME TO was", str(ddl).replace(old, new, 1)),
                *("INSERT INTO held SELECT * FROM was", "DROP TABLE was"),
            )
        else:
            places.execute("out", kind, STATEMENTS.get(kind, {}).get(change, change))


def declared(places: Places, kind: str, policy: str, **options: object) -> Flow:
    """The project under another policy; its rows need no Spark unless some are let go."""
    connections = places.declare("db", "sqlite") + places.declare("out", kind)
    places.project.declare(connections + PROJECT.format(policy=policy))
    environ = {**places.environ(), "EMATIX_FLOW_DIRECT_UP_TO": "1 GB"}
    return places.project.flow(environ=environ, **options)


def given(places: Places, *rows: tuple[object, ...]) -> None:
    """Add rows to the source."""
    listed = ", ".join(str(row).replace("None", "NULL") for row in rows)
    places.execute("db", "sqlite", f"INSERT INTO given VALUES {listed}")


def first_load(places: Places, kind: str) -> None:
    """Load one row into the table as it is declared, by the path without Spark."""
    places.execute("db", "sqlite", GIVEN)
    given(places, ADA)
    done = declared(places, kind, "error").run("load")
    assert (done.path, done.rows.inserted) == ("direct", 1)


def held(places: Places, names: list[str] = DECLARED) -> list[tuple[object, ...]]:
    return places.rows("out", f"SELECT {', '.join(names)} FROM held ORDER BY id")


def commits(places: Places) -> int:
    [(count,)] = places.rows("out", "SELECT count(*) FROM _flow_ledger")
    return int(str(count))


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What must become of a change.

    :param kinds: What it would take to undo it, as `plan` names it.
    :param told: How it is told.
    :param refused: The policies that load nothing, in the order error, warn, evolve.
    :param left: The columns of the table after evolving, besides those that are declared.
    """

    kinds: set[str]
    told: str
    refused: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


CHANGES = {
    ADDED: Expected(
        kinds={"drop"}, told="extra is in the table, but not declared", left=("extra",)
    ),
    DROPPED: Expected(
        kinds={"add"},
        told="note is declared but missing from the table",
        refused=("error", "warn"),
    ),
    RENAMED: Expected(
        kinds={"add", "drop", "rename"},
        told="rename? remark -> note",
        refused=("error", "warn"),
        left=("remark",),
    ),
    WIDENED: Expected(kinds={"narrow"}, told="size is ", refused=("error",)),
    NARROWED: Expected(kinds={"widen"}, told="size is ", refused=("error", "warn")),
    NOT_NULL: Expected(
        kinds={"nullable"},
        told="code is NOT NULL in the table, declared nullable",
        refused=("error", "warn"),
    ),
    NULLABLE: Expected(kinds={"not_null"}, told="name may be NULL in the table, declared NOT NULL"),
}
# Its columns have no width; and it can give up no NOT NULL.
IN_SQLITE = {
    NARROWED: Expected(kinds={"widen"}, told="size is SMALLINT, declared as INTEGER"),
    NOT_NULL: Expected(
        kinds={"nullable"}, told=CHANGES[NOT_NULL].told, refused=("error", "warn", "evolve")
    ),
}


@pytest.mark.proves("drift-while-down", "drift-kinds", "drift-policies")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", CHANGES)
def test_each_policy_does_what_it_says(places, kind, change):
    expected = IN_SQLITE.get(change, CHANGES[change]) if kind == "sqlite" else CHANGES[change]
    first_load(places, kind)
    by_hand(places, kind, change)
    given(places, BOB)
    altered = places.everything("out", kind)
    for policy in ("error", "warn", "evolve"):
        flow = declared(places, kind, policy)
        if policy in expected.refused:
            with pytest.raises(DriftError) as refused:
                flow.run("load")
            assert expected.told in str(refused.value)
            assert places.everything("out", kind)["held"] == altered["held"]
            assert commits(places) == 1
            continue
        plan = flow.plan("load")
        changes = plan.first.diff.changes
        assert {each.kind.value for each in changes} == expected.kinds
        assert any(expected.told in each.text for each in changes)
        if policy == "warn":
            assert any(expected.told in remark for remark in plan.remarks)
        flow.run("load")
        assert held(places) == [ADA, BOB]
    if "evolve" not in expected.refused:
        names = {name for name in columns_of(places, "held", "out") if not name.startswith("_")}
        assert names == {*DECLARED, *expected.left}


@pytest.mark.proves("drift-while-down", "drift-policies")
@pytest.mark.parametrize("kind", KINDS[1:])  # SQLite can do only one of the three
def test_what_evolving_widened_is_no_drift_the_next_time(places, kind):
    first_load(places, kind)
    by_hand(places, kind, NARROWED, DROPPED, NOT_NULL)
    given(places, BOB)
    declared(places, kind, "evolve").run("load")
    assert declared(places, kind, "error").plan("load").first.diff.changes == ()
    assert held(places) == [ADA, BOB]


def test_a_renamed_column_keeps_its_values_whatever_is_agreed_to(places):
    first_load(places, "duckdb")
    by_hand(places, "duckdb", RENAMED)
    declared(places, "duckdb", "evolve").run("load", allow_destructive=True)
    assert held(places, [*DECLARED, "remark"]) == [(*ADA, "x")]


# What does not fit is let go -------------------------------------------------------------------

CY = (3, 7, "c", "cy", None)
DI = (4, 80_000, "d", "di", None)
EVE = (5, 5, "e", "eve", "no room")
FAY = (6, 6, None, "fay", None)
GUS = (7, 8, "g", "gus", None)


@pytest.mark.proves("drift-while-down", "drift-policies")
@pytest.mark.parametrize("kind", KINDS)
def test_what_does_not_fit_is_let_go_and_nothing_else(places, spark, kind):  # noqa: F811
    first_load(places, kind)
    narrow = () if kind == "sqlite" else (NARROWED,)
    by_hand(places, kind, DROPPED, *narrow)
    given(places, (2, 70_000, "b", "bob", "y"), CY)
    kept = ["id", "size", "code", "name"]
    done = declared(places, kind, "discard_value", session=spark).run("load")
    assert (done.path, done.rows.quarantined) == ("spark", 0)
    size = 70_000 if kind == "sqlite" else None
    assert held(places, kept) == [ADA[:4], (2, size, "b", "bob"), CY[:4]]

    by_hand(places, kind, NOT_NULL)
    with pytest.raises(DriftError, match="where the table takes no NULL"):
        declared(places, kind, "discard_value", session=spark).run("load")
    places.execute("db", "sqlite", "DELETE FROM given")
    given(places, DI, EVE, FAY, GUS)
    done = declared(places, kind, "discard_row", session=spark).run("load")
    # Eve has a note, which the table lacks; Fay has no code.
    landed = [DI, GUS] if kind == "sqlite" else [GUS]
    assert (done.rows.inserted, done.rows.quarantined) == (len(landed), 4 - len(landed))
    assert held(places, kept)[3:] == [row[:4] for row in landed]


# What loses values needs consent ---------------------------------------------------------------

REQUIRED = "ALTER TABLE held ADD COLUMN extra INTEGER DEFAULT 0 NOT NULL"


@pytest.fixture
def command(places, monkeypatch, capsys):
    """`flow ...` in this process: its exit code, what it prints, and its errors."""

    def run(*arguments: str) -> tuple[object, str, str]:
        for name, value in places.environ().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("EMATIX_FLOW_DIRECT_UP_TO", "1 GB")
        monkeypatch.setattr("sys.argv", ["flow", *arguments, "--project", str(places.project.path)])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return ended.value.code, shown.out, shown.err

    return run


@pytest.mark.proves("drift-consent", "drift-while-down", "plan-shows")
@pytest.mark.parametrize("kind", KINDS)
def test_what_loses_values_is_shown_and_waits_for_consent(places, kind, command):
    first_load(places, kind)
    required = (REQUIRED,)
    if kind == "duckdb":  # it adds no column with a constraint
        required = (ADDED, "UPDATE held SET extra = 0", f"{ALTER} extra SET NOT NULL")
    # SQLite changes no type.
    by_hand(places, kind, *required, *(() if kind == "sqlite" else (AS_TEXT,)))
    given(places, BOB)
    declared(places, kind, "evolve")
    altered = places.everything("out", kind)

    code, shown, refused = command("plan", "load")
    assert code == EXIT_CONSENT
    assert "DESTRUCTIVE: extra is in the table, NOT NULL, but not declared" in shown
    assert ("DESTRUCTIVE: size is" in shown) is (kind != "sqlite")
    assert "--allow-destructive" in refused
    assert places.everything("out", kind) == altered

    code, shown, refused = command("run", "load")
    assert (code, shown) == (EXIT_CONSENT, "")
    assert "would change held with loss: " in refused
    assert "extra is in the table, NOT NULL, but not declared" in refused
    assert places.everything("out", kind) == altered

    code, shown, errors = command("run", "load", "--allow-destructive")
    assert code == 0, errors
    assert "extra" not in columns_of(places, "held", "out")
    assert held(places) == [ADA, BOB]
    assert command("plan", "load")[0] == 0
    assert declared(places, kind, "error").plan("load").first.diff.changes == ()


@pytest.mark.proves("drift-consent", "drift-while-down", "drift-kinds")
@pytest.mark.parametrize("kind", KINDS)
def test_what_could_as_well_be_left_goes_with_consent_alone(places, kind, command):
    first_load(places, kind)
    by_hand(places, kind, ADDED, *(() if kind == "sqlite" else (WIDENED,)))
    declared(places, kind, "evolve")
    code, shown, _ = command("plan", "load")
    assert code == 0
    assert "extra is in the table, but not declared (left as it is without consent)" in shown
    assert command("run", "load")[0] == 0
    assert "extra" in columns_of(places, "held", "out")
    assert command("run", "load", "--allow-destructive")[0] == 0
    assert "extra" not in columns_of(places, "held", "out")
    assert declared(places, kind, "error").plan("load").first.diff.changes == ()
    assert held(places) == [ADA]
