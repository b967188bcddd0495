"""How messages name a row."""

from __future__ import annotations

from datetime import date

from ematix_flow._base.location import Location
from ematix_flow.spec.named_row import first_columns, named_row, naming_columns
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import Text

NAMES = ("a", "b", "c", "d", "e")


def table(**options) -> Table:
    columns = tuple(Column(name=name, type=Text()) for name in NAMES)
    return Table(name=TableName(name="t"), location=Location("x.py", 1), columns=columns, **options)


def test_values_are_shown_plainly_and_null_as_null():
    row = [("id", 7), ("name", "ada"), ("day", date(2024, 1, 2)), ("note", None)]
    assert named_row(row) == "id=7, name=ada, day=2024-01-02, note=NULL"


def test_a_row_is_named_by_its_key_or_by_how_it_begins():
    assert naming_columns(table(merge_keys=("e",))) == ("e",)
    assert naming_columns(table()) == first_columns(NAMES) == ("a", "b", "c", "d")
