"""What every write program has in common, by its text."""

import pytest

from ematix_flow._base.location import Location
from ematix_flow.plan.layout import layout_of
from ematix_flow.spec.modes import HandleDeletes, Mode
from ematix_flow.spec.pipeline import TargetSpec, WriteOptions
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import BigInt, Text
from ematix_flow.sqltext.program import write_program

HERE = Location("x.py", 1)
TABLE = Table(
    name=TableName(name="t"),
    location=HERE,
    columns=(
        Column(name="a", type=BigInt(), primary_key=True),
        Column(name="x", type=Text(), nullable=True),
    ),
)
SNAPSHOT = {"handle_deletes": HandleDeletes.HARD}
WRITES = [
    WriteOptions(mode=Mode.MERGE, **SNAPSHOT),
    WriteOptions(mode=Mode.SCD1, sequence_by=("at",)),
    WriteOptions(mode=Mode.SCD2, **SNAPSHOT),
    WriteOptions(mode=Mode.SCD2, event_timestamp_column="at", **SNAPSHOT),
]


def program(write, dialect):
    target = TargetSpec(table=TABLE, connection="out", write=write, location=HERE)
    return write_program(layout_of(target, TABLE, None), TABLE.name, dialect, pipeline="p")


@pytest.mark.parametrize("write", WRITES)
def test_postgres_looks_at_each_table_that_was_filled_before_it_joins_it(write):
    statements = [each.sql for each in program(write, "postgres").computes]
    filled = [sql.split()[2] for sql in statements if sql.startswith("INSERT INTO ")]
    assert filled
    for name in filled:
        [*_, last] = [
            n for n, sql in enumerate(statements) if sql.startswith(f"INSERT INTO {name}")
        ]
        assert statements[last + 1] == f"ANALYZE {name}"


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "mysql", "mariadb"])
def test_other_databases_need_no_such_look_inside_the_transaction(dialect):
    # In MySQL it would end the transaction.
    assert not any("ANALYZE" in each.sql for each in program(WRITES[-1], dialect).statements)
