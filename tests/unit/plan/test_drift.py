import pytest

from ematix_flow._base.location import Location
from ematix_flow.errors import DriftError
from ematix_flow.plan.diff import ChangeKind, compare
from ematix_flow.plan.drift import DriftDecision, resolve_drift
from ematix_flow.plan.fitting import fitted
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.modes import OnDrift
from ematix_flow.spec.pipeline import TargetSpec, WriteOptions
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import (
    JSON,
    Array,
    BigInt,
    Double,
    Float,
    Integer,
    Numeric,
    SmallInt,
    String,
    Struct,
    Text,
    Timestamp,
    TimestampTZ,
)

NAME = TableName(name="t")
HERE = Location("x.py", 1)


def table(*columns: Column) -> Table:
    return Table(name=NAME, columns=columns, location=Location("x.py", 1))


def keyed(name: str, kind: str = "BIGINT", *, nullable: bool = False, key: bool = False):
    return ActualColumn(name=name, type=kind, nullable=nullable, primary_key=key)


ID = Column(name="id", type=BigInt(), primary_key=True)
NOTE = Column(name="note", type=Text(), nullable=True)
ALSO = Column(name="also", type=BigInt())


def refused(declared: Table, *actual: ActualColumn) -> str:
    with pytest.raises(DriftError) as caught:
        resolved(OnDrift.ERROR, declared, *actual, dialect="duckdb")
    return str(caught.value)


def accepted(declared: Table, *actual: ActualColumn) -> bool:
    return resolved(OnDrift.ERROR, declared, *actual, dialect="duckdb") == DriftDecision()


def test_what_is_safe_is_no_drift():
    assert accepted(
        table(ID, ALSO),
        keyed("ID", "bigint", key=True),
        # Declared NOT NULL: every row is judged before it is written.
        keyed("also", nullable=True),
        # Not declared, nullable: it stays NULL.
        keyed("extra", "VARCHAR", nullable=True),
    )


def test_a_nullable_key_is_not_null_in_every_database():
    declared = table(Column(name="id", type=BigInt(), primary_key=True, nullable=True))
    assert accepted(declared, keyed("id", key=True))


@pytest.mark.parametrize(
    ("kind", "reported"),
    [
        (Struct(("a", BigInt()), ("b c", Text())), 'STRUCT(a BIGINT, "b c" VARCHAR)'),
        (Struct(("A", BigInt()), ('q"t', Text())), 'STRUCT("A" BIGINT, "q""t" VARCHAR)'),
        (Array(Struct(("a", Array(Text())))), "STRUCT(a VARCHAR[])[]"),
    ],
)
def test_a_struct_is_itself_however_it_is_quoted(kind, reported):
    declared = table(Column(name="s", type=kind))
    assert accepted(declared, keyed("s", reported))


@pytest.mark.parametrize(
    "reported", ["STRUCT(b BIGINT)", 'STRUCT("a b" BIGINT)', "STRUCT(a BIGINT)[]", "BIGINT"]
)
def test_another_struct_is_drift(reported):
    declared = table(Column(name="s", type=Struct(("a", BigInt()))))
    assert f"s is {reported}, declared as" in refused(declared, keyed("s", reported))


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (
            (keyed("id"), keyed("also")),
            "the table has no primary key, but (id) is declared",
        ),
        (
            (keyed("id", key=True), keyed("also", key=True)),
            "the table's primary key is (id, also), but (id) is declared",
        ),
        (
            (keyed("id"), keyed("also", key=True)),
            "the table's primary key is (also), but (id) is declared",
        ),
    ],
)
def test_another_primary_key_is_drift(actual, expected):
    assert expected in refused(table(ID, ALSO), *actual)


def test_a_primary_key_nobody_declared_is_drift():
    text = refused(table(ALSO), keyed("also", key=True))
    assert "the table's primary key is (also), but none is declared" in text


def test_a_key_that_the_database_does_not_tell_is_not_judged():
    plain = ActualColumn(name="id", type="BIGINT", nullable=False)
    assert accepted(table(ID), plain)


def test_every_difference_is_told_at_once():
    text = refused(
        table(ID, NOTE, ALSO), keyed("id", "INTEGER", key=True), keyed("note", "VARCHAR")
    )
    assert "id is INTEGER, declared as BIGINT" in text
    assert "note is NOT NULL in the table, declared nullable" in text
    assert "also is declared but missing" in text


# The differences themselves


def changes(declared: Table, *actual: ActualColumn, dialect: str = "postgres"):
    found = compare(declared, actual, dialect).changes
    return [(change.kind.value, change.column, change.destructive) for change in found]


@pytest.mark.proves("drift-kinds")
@pytest.mark.parametrize(
    ("dialect", "there", "declared", "kind"),
    [
        ("postgres", "integer", BigInt(), "widen"),
        ("postgres", "bigint", Integer(), "narrow"),
        ("postgres", "real", Double(), "widen"),
        ("postgres", "double precision", Float(), "narrow"),
        ("postgres", "character varying(10)", String(20), "widen"),
        ("postgres", "character varying(10)", Text(), "widen"),
        ("postgres", "character varying(20)", String(10), "narrow"),
        ("postgres", "text", String(10), "narrow"),
        ("postgres", "numeric(10,2)", Numeric(12, 2), "widen"),
        ("postgres", "numeric(10,2)", Numeric(12, 4), "widen"),
        # Two more decimals at the cost of two digits before the point.
        ("postgres", "numeric(10,2)", Numeric(10, 4), "retype"),
        ("postgres", "numeric(10,2)", Numeric(8, 2), "narrow"),
        ("postgres", "numeric", Numeric(8, 2), "narrow"),
        ("postgres", "text", BigInt(), "retype"),
        ("postgres", "integer", Double(), "retype"),
        ("postgres", "timestamp(3) without time zone", Timestamp(), "widen"),
        ("postgres", "timestamp(3) without time zone", TimestampTZ(), "retype"),
        ("postgres", "timestamp without time zone", TimestampTZ(), "retype"),
        ("postgres", "mood", Text(), "retype"),
        ("mysql", "int(11)", BigInt(), "widen"),
        ("mysql", "text", Text(), "widen"),
        ("mysql", "datetime", Timestamp(), "widen"),
        ("mysql", "decimal(10,2)", Numeric(12, 2), "widen"),
        ("mysql", "int(10) unsigned", BigInt(), "retype"),
        ("duckdb", "FLOAT", Double(), "widen"),
        ("duckdb", "HUGEINT", BigInt(), "retype"),
        ("sqlite", "NUMERIC_TEXT(10,2)", Numeric(12, 2), "widen"),
        ("sqlite", "REAL", Text(), "retype"),
        # SQLite makes numbers of what looks like one: of `007` a 7, of `1.10` a 1.1.
        ("sqlite", "STRING", Text(), "retype"),
        ("sqlite", "DECIMAL(38,2)", Numeric(38, 2), "retype"),
        ("sqlite", "JSON", JSON(), "retype"),
        # MySQL's own JSON rounds numbers, and takes no text.
        ("mysql", "json", JSON(), "retype"),
        ("mysql", "json", Text(), "retype"),
        ("delta", "int", BigInt(), "widen"),
        ("iceberg", "float", Double(), "widen"),
    ],
)
def test_a_change_of_type(dialect, there, declared, kind):
    column = Column(name="c", type=declared, nullable=True)
    actual = keyed("c", there, nullable=True)
    [change] = compare(table(column), (actual,), dialect).changes
    assert change.kind.value == kind
    assert change.destructive == (kind != "widen")
    assert (change.sql is None) == (dialect == "sqlite")
    # What is narrower than the table goes into it; what is wider does not.
    assert change.fits == (kind == "narrow")


@pytest.mark.parametrize(
    ("dialect", "there", "declared"),
    [
        ("mysql", "longtext", Text()),
        ("mysql", "longtext", Struct(("a", Text))),
        ("mysql", "varchar(9)", String(9)),
        ("postgres", "jsonb", Struct(("a", Text))),
        ("sqlite", "JSON_TEXT", Array(Text())),
        ("iceberg", "int", SmallInt()),
    ],
)
def test_what_the_database_calls_otherwise_is_the_same(dialect, there, declared):
    assert changes(table(Column(name="c", type=declared)), keyed("c", there), dialect=dialect) == []


@pytest.mark.proves("drift-kinds")
def test_every_kind_of_change_is_told_apart():
    declared = table(
        ID,
        Column(name="wide", type=BigInt()),
        Column(name="loose", type=Text(), nullable=True),
        Column(name="strict", type=Text()),
        Column(name="fresh", type=Timestamp()),
    )
    found = changes(
        declared,
        keyed("id"),
        keyed("wide", "integer"),
        keyed("loose", "text"),
        keyed("strict", "text", nullable=True),
        keyed("old", "boolean", nullable=True),
    )
    assert found == [
        ("widen", "wide", False),
        ("nullable", "loose", False),
        ("not_null", "strict", True),
        ("add", "fresh", False),
        ("drop", "old", True),
        ("key", "id", True),
    ]


@pytest.mark.proves("drift-kinds")
@pytest.mark.parametrize(
    ("old", "expected"),
    [
        # The same place, and of the same type.
        (keyed("remark", "text", nullable=True), ["rename? remark -> note"]),
        # Another type is no rename.
        (keyed("notes", "bigint", nullable=True), []),
    ],
)
def test_a_rename_is_guessed(old, expected):
    diff = compare(table(ID, NOTE), (keyed("id", key=True), old), "postgres")
    guesses = diff.of(ChangeKind.RENAME)
    assert [guess.text for guess in guesses] == expected
    # A guess is only ever shown: the new column is still one to add, the old one to drop.
    assert diff.of(ChangeKind.ADD)
    assert diff.of(ChangeKind.DROP)


def test_postgres_tells_names_apart_by_case():
    kinds = [kind for kind, _, _ in changes(table(ALSO), keyed("Also"))]
    assert kinds == ["add", "drop", "rename"]
    assert changes(table(ALSO), keyed("Also"), dialect="duckdb") == []


def test_a_column_is_never_narrowed_on_the_way_to_null_in_mysql():
    narrow = Column(name="c", type=String(3), nullable=True)
    diff = compare(table(narrow), (keyed("c", "varchar(9)"),), "mysql")
    [nullable] = diff.of(ChangeKind.NULLABLE)
    assert nullable.sql is None


# The policies

NOTE_THERE = keyed("note", "text", nullable=True)

WIDER = table(ID, Column(name="also", type=BigInt()), Column(name="fresh", type=Integer()))
NARROWER = (keyed("id", key=True), keyed("also", "integer"), keyed("old", "text", nullable=True))


def resolved(policy: OnDrift, declared: Table, *actual: ActualColumn, dialect: str = "postgres"):
    diff = compare(declared, actual, dialect)
    return resolve_drift(diff, policy, declared.location, NAME)


@pytest.mark.proves("drift-policies")
def test_evolve_applies_what_loses_nothing_and_asks_for_the_rest():
    decision = resolved(OnDrift.EVOLVE, WIDER, *NARROWER)
    assert decision.ddl == (
        'ALTER TABLE "t" ALTER COLUMN "also" TYPE BIGINT',
        'ALTER TABLE "t" ADD COLUMN "fresh" INTEGER',
    )
    # Rows leave it NULL, so they need not wait for it to go.
    assert decision.destructive == ()
    assert decision.optional_ddl == ('ALTER TABLE "t" DROP COLUMN "old"',)
    assert decision.warnings == (
        "t: fresh is declared but missing from the table "
        "(added as nullable: the rows that are there have no value for it)",
        "t: old is in the table, but not declared (left as it is without consent)",
    )


@pytest.mark.proves("drift-policies", "drift-consent")
@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (
            (keyed("also", "text"),),
            'ALTER TABLE "t" ALTER COLUMN "also" TYPE BIGINT USING CAST("also" AS BIGINT)',
        ),
        ((keyed("also"), keyed("old", "text")), 'ALTER TABLE "t" DROP COLUMN "old"'),
    ],
)
def test_evolve_needs_consent_where_rows_do_not_fit(actual, expected):
    decision = resolved(OnDrift.EVOLVE, table(ID, ALSO), keyed("id", key=True), *actual)
    assert decision.ddl == decision.optional == ()
    assert decision.destructive_ddl == (expected,)


def test_what_evolving_leaves_is_no_matter_of_consent_the_next_time():
    there = (keyed("id", key=True), keyed("also", nullable=True))
    decision = resolved(OnDrift.EVOLVE, table(ID, ALSO), *there)
    assert decision == DriftDecision()


@pytest.mark.proves("drift-consent")
def test_evolve_narrows_with_consent_alone():
    decision = resolved(OnDrift.EVOLVE, table(ID, NOTE), keyed("id", key=True), NOTE_THERE)
    assert decision == DriftDecision()
    narrow = table(ID, Column(name="note", type=String(3), nullable=True))
    decision = resolved(OnDrift.EVOLVE, narrow, keyed("id", key=True), NOTE_THERE)
    assert decision.ddl == decision.destructive == ()
    assert decision.optional_ddl == ('ALTER TABLE "t" ALTER COLUMN "note" TYPE VARCHAR(3)',)


def test_evolve_does_not_touch_keys():
    with pytest.raises(DriftError, match="but none is declared") as caught:
        resolved(OnDrift.EVOLVE, table(ALSO), keyed("also", key=True))
    assert "flow does not change keys" in str(caught.value)


def test_evolve_warns_of_a_guessed_rename_and_adds():
    decision = resolved(
        OnDrift.EVOLVE,
        table(ID, NOTE),
        keyed("id", key=True),
        keyed("notes", "text", nullable=True),
    )
    assert decision.ddl == ('ALTER TABLE "t" ADD COLUMN "note" TEXT',)
    assert decision.warnings == (
        "t: rename? notes -> note (a guess, never applied: rename it by hand if it is right)",
    )
    assert decision.optional == ()  # consent to a drop is no consent to lose what was renamed


def test_evolve_on_sqlite_widens_where_nothing_needs_to_change():
    declared = table(Column(name="n", type=BigInt()))
    decision = resolved(OnDrift.EVOLVE, declared, keyed("n", "INTEGER"), dialect="sqlite")
    assert decision.ddl == ()
    money = table(Column(name="n", type=Numeric(12, 2)))
    with pytest.raises(DriftError, match="SQLite cannot change a column"):
        resolved(OnDrift.EVOLVE, money, keyed("n", "NUMERIC_TEXT(10,2)"), dialect="sqlite")


@pytest.mark.proves("drift-policies")
def test_warn_goes_on_where_rows_fit():
    declared = table(Column(name="also", type=Integer()), Column(name="id", type=BigInt()))
    decision = resolved(
        OnDrift.WARN,
        declared,
        keyed("id", nullable=True),
        keyed("also"),
        keyed("old", "text", nullable=True),
    )
    assert decision.ddl == decision.destructive == ()
    assert [text.partition(" (")[0] for text in decision.warnings] == [
        "t: also is BIGINT, declared as INTEGER",
        "t: id may be NULL in the table, declared NOT NULL",
        "t: old is in the table, but not declared",
    ]


@pytest.mark.proves("drift-policies")
@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ((keyed("id"),), "also is declared but missing"),
        ((keyed("id"), keyed("also", "integer")), "also is integer, declared as BIGINT"),
        ((keyed("id"), keyed("also"), keyed("old", "text")), "old is in the table, NOT NULL,"),
    ],
)
def test_warn_stops_where_rows_do_not_fit(actual, expected):
    declared = table(Column(name="id", type=BigInt()), ALSO)
    with pytest.raises(DriftError) as caught:
        resolved(OnDrift.WARN, declared, *actual)
    assert expected in str(caught.value)
    assert "rows would be lost or refused" in str(caught.value)


@pytest.mark.proves("drift-policies")
def test_error_says_when_evolving_would_do_and_shows_a_guess():
    with pytest.raises(DriftError) as caught:
        resolved(
            OnDrift.ERROR,
            table(ID, NOTE),
            keyed("id", key=True),
            keyed("notes", "text", nullable=True),
        )
    assert str(caught.value) == (
        "x.py:1: table t differs from its declaration: "
        "note is declared but missing from the table\n"
        '  rename? notes -> note: ALTER TABLE "t" RENAME COLUMN "notes" TO "note"\n'
        "Hint: set on_drift='evolve' to let flow alter it, or change the declaration"
    )


def discarding(policy: OnDrift, declared: Table, *actual: ActualColumn, dialect: str = "duckdb"):
    write = WriteOptions(on_drift=policy)
    target = TargetSpec(table=declared, connection="out", write=write, location=HERE)
    return fitted(target, declared, actual, dialect)


@pytest.mark.proves("drift-policies")
@pytest.mark.parametrize("policy", [OnDrift.DISCARD_VALUE, OnDrift.DISCARD_ROW])
def test_a_column_that_is_missing_is_not_written(policy):
    fit = discarding(policy, table(ID, NOTE), keyed("id", key=True))
    assert fit.table.column_names == ("id",)
    [drifted] = fit.drifted
    assert (drifted.column, drifted.held) == (NOTE, None)
    assert drifted.discards_row is (policy is OnDrift.DISCARD_ROW)
    assert resolved(policy, fit.table, keyed("id", key=True)) == DriftDecision()
    [note] = fit.notes
    lost = "its value is discarded" if policy is OnDrift.DISCARD_VALUE else "rows with a value are"
    assert note.startswith(f"t.note: {lost}")
    assert note.endswith("(the table lacks note)")


@pytest.mark.proves("drift-policies")
def test_a_column_is_written_in_the_type_that_it_has():
    there = keyed("id", key=True), keyed("note", "INTEGER", nullable=True)
    fit = discarding(OnDrift.DISCARD_VALUE, table(ID, NOTE), *there)
    assert [column.type for column in fit.table.columns] == [BigInt(), Integer()]
    assert resolved(OnDrift.DISCARD_VALUE, fit.table, *there) == DriftDecision()
    misfit = "a value that is no Integer is discarded (the table has note as Integer)"
    assert fit.notes == (f"t.note: {misfit}",)


def test_what_cannot_be_discarded_is_refused():
    for declared, there, hint in (
        (table(ID, NOTE), keyed("note", "VARCHAR", nullable=True), "nothing of a key"),
        (table(ID), keyed("id", "INTEGER", key=True), "nothing of a key"),
        (
            table(ID, NOTE),
            keyed("note", "INTEGER"),
            "where the table takes no NULL",
        ),
    ):
        key = () if there.name == "id" or hint == "nothing of a key" else (keyed("id", key=True),)
        with pytest.raises(DriftError) as caught:
            discarding(OnDrift.DISCARD_VALUE, declared, *key, there)
        assert hint in str(caught.value)


@pytest.mark.proves("drift-policies")
def test_rows_without_a_value_are_let_go_where_the_table_wants_one():
    there = keyed("id", key=True), keyed("note", "VARCHAR")
    fit = discarding(OnDrift.DISCARD_ROW, table(ID, NOTE), *there)
    [drifted] = fit.drifted
    assert (drifted.held, drifted.takes_null) == (Text(), False)
    assert fit.notes == ("t.note: rows with NULL are set aside (the table takes no NULL in note)",)
    assert not fit.table.columns[1].nullable


def test_another_policy_discards_nothing():
    declared = table(ID, NOTE)
    assert discarding(OnDrift.ERROR, declared, keyed("id", key=True)).table is declared
