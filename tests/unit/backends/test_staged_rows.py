"""What a session does with rows that are staged in a way it cannot show."""

from __future__ import annotations

import pytest

from ematix_flow._base.location import Location
from ematix_flow.backends.impl.duckdb.write import DuckdbTarget
from ematix_flow.backends.impl.sqlite.write import SqliteTarget
from ematix_flow.backends.staged_table import of_winners, require_all
from ematix_flow.errors import NotSupported, StagingLost
from ematix_flow.ports import StagedTable
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import BigInt

TABLE = Table(
    name=TableName(name="t"),
    location=Location("x.py", 1),
    columns=(Column(name="id", type=BigInt(), primary_key=True),),
)


@pytest.mark.parametrize("kind", [SqliteTarget, DuckdbTarget])
def test_a_table_that_tasks_filled_is_refused_where_there_can_be_none(kind, tmp_path):
    staged = StagedTable(name="s", tasks=("0.0",), rows=1)
    with (
        kind(tmp_path / "x.db").open() as session,
        pytest.raises(NotSupported, match="has one writer, so tasks cannot fill a table of it"),
    ):
        session.show_staging(staged, TABLE, "_flow_staging")


@pytest.mark.parametrize("dialect", ["postgres", "mysql"])
@pytest.mark.parametrize(
    ("tasks", "condition"),
    [
        (None, "TRUE"),
        ((), "FALSE"),
        (("0.1", "it's"), "_flow_task IN ('0.1', 'it''s')"),
    ],
)
def test_only_rows_of_winners_count(dialect, tasks, condition):
    assert of_winners(StagedTable(name="s", tasks=tasks, rows=0), dialect) == condition


def test_rows_that_are_gone_are_missed():
    staged = StagedTable(name="s", tasks=None, rows=1200)
    require_all(staged, 1200)
    with pytest.raises(StagingLost, match="staging holds 0 rows, but 1,200 were sent to it"):
        require_all(staged, 0)
