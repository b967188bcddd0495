import pytest

from ematix_flow._base.location import Location
from ematix_flow.errors import DriftError
from ematix_flow.plan.drift import check_drift
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import Array, BigInt, Struct, Text

NAME = TableName(name="t")


def table(*columns: Column) -> Table:
    return Table(name=NAME, columns=columns, location=Location("x.py", 1))


def keyed(name: str, kind: str = "BIGINT", *, nullable: bool = False, key: bool = False):
    return ActualColumn(name=name, type=kind, nullable=nullable, primary_key=key)


ID = Column(name="id", type=BigInt(), primary_key=True)
NOTE = Column(name="note", type=Text(), nullable=True)
ALSO = Column(name="also", type=BigInt())


def refused(declared: Table, *actual: ActualColumn) -> str:
    with pytest.raises(DriftError) as caught:
        check_drift(declared, NAME, actual, "duckdb")
    return str(caught.value)


def test_what_is_safe_is_no_drift():
    check_drift(
        table(ID, ALSO),
        NAME,
        (
            keyed("ID", "bigint", key=True),
            # Declared NOT NULL: every row is judged before it is written.
            keyed("also", nullable=True),
            # Not declared, nullable: it stays NULL.
            keyed("extra", "VARCHAR", nullable=True),
        ),
        "duckdb",
    )


def test_a_nullable_key_is_not_null_in_every_database():
    declared = table(Column(name="id", type=BigInt(), primary_key=True, nullable=True))
    check_drift(declared, NAME, (keyed("id", key=True),), "duckdb")


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
    check_drift(declared, NAME, (keyed("s", reported),), "duckdb")


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
            "the table has no primary key, declared is (id)",
        ),
        (
            (keyed("id", key=True), keyed("also", key=True)),
            "the table's primary key is (id, also), declared is (id)",
        ),
        (
            (keyed("id"), keyed("also", key=True)),
            "the table's primary key is (also), declared is (id)",
        ),
    ],
)
def test_another_primary_key_is_drift(actual, expected):
    assert expected in refused(table(ID, ALSO), *actual)


def test_a_primary_key_nobody_declared_is_drift():
    text = refused(table(ALSO), keyed("also", key=True))
    assert "the table's primary key is (also), declared is none" in text


def test_a_key_that_the_database_does_not_tell_is_not_judged():
    plain = ActualColumn(name="id", type="BIGINT", nullable=False)
    check_drift(table(ID), NAME, (plain,), "duckdb")


def test_every_difference_is_told_at_once():
    text = refused(
        table(ID, NOTE, ALSO), keyed("id", "INTEGER", key=True), keyed("note", "VARCHAR")
    )
    assert "id is INTEGER, declared as BIGINT" in text
    assert "note is NOT NULL in the table, declared nullable" in text
    assert "also is declared but missing" in text
