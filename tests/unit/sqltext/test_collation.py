"""Collations that a CREATE TABLE tells."""

import pytest

from ematix_flow.ports import ActualColumn
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.collation import foreign_collation, told_collations

TOLD = {
    "CREATE TABLE t (k TEXT COLLATE NOCASE NOT NULL PRIMARY KEY, v TEXT)": {"k": "NOCASE"},
    "CREATE TABLE t (n DECIMAL(10, 2), K TEXT collate rtrim) STRICT": {"k": "rtrim"},
    'CREATE TABLE "t" ("a, b" VARCHAR(9) COLLATE "NOCASE", [c] ANY) WITHOUT ROWID': {
        "a, b": "NOCASE"
    },
    # These say how something else compares.
    "CREATE TABLE t (k TEXT CHECK (k COLLATE NOCASE <> ''), PRIMARY KEY (k COLLATE NOCASE))": {},
    "CREATE TABLE t (k TEXT DEFAULT ' COLLATE NOCASE', v TEXT -- COLLATE NOCASE\n)": {},
    "CREATE TABLE t (k TEXT, v TEXT)": {},
}


@pytest.mark.parametrize("created", TOLD)
def test_a_collation_is_its_columns(created):
    assert told_collations(created, "sqlite") == TOLD[created]


@pytest.mark.parametrize(
    ("dialect", "name", "is_foreign"),
    [
        ("sqlite", "binary", False),
        ("sqlite", "NOCASE", True),
        ("duckdb", "C", False),
        ("duckdb", "POSIX", False),
        ("duckdb", "noaccent", True),
        ("postgres", "caseless", True),
        ("mysql", "utf8mb4_0900_bin", False),
        ("mysql", "latin1_swedish_ci", True),
        ("sqlite", None, False),
    ],
)
def test_what_compares_bytes_is_ours(dialect, name, is_foreign):
    column = ActualColumn(name="k", type="TEXT", nullable=False, collation=name)
    assert (foreign_collation(column, dialect) is not None) is is_foreign


@pytest.mark.parametrize(("is_key", "can_be_changed"), [(False, True), (True, False)])
def test_duckdb_changes_no_column_of_a_key(is_key, can_be_changed):
    column = ActualColumn(
        name="k", type="VARCHAR", nullable=False, primary_key=is_key, collation="nocase"
    )
    found = foreign_collation(column, "duckdb")
    assert found is not None
    assert (found.replaced(column, TableName(name="t")) is not None) is can_be_changed
