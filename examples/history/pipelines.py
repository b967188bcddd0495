"""Who worked where, and when: history by event time, from a log whose entries may come late.

    python pipelines.py            # writes the log
    flow run --all
    python pipelines.py late       # adds entries about the past
    flow run --all                 # splices them in

Both tables read the same log. The history keeps every version, the other table the last one.
"""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

from ematix_flow import Boolean, Date, Text, ematix, pk


@ematix.connection
class personnel:
    kind = "sqlite"
    path = "personnel.db"


@ematix.connection
class warehouse:
    kind = "duckdb"
    path = "warehouse.duckdb"


@ematix.table
class Assignments:
    employee: Annotated[Text, pk()]
    team: Text
    valid_from: Date
    valid_to: Date | None
    is_current: Boolean


@ematix.table
class Staff:
    employee: Annotated[Text, pk()]
    team: Text


LOG = "SELECT entry, employee, team, happened_on, kind FROM log"


@ematix.pipeline(
    target=Assignments,
    mode="scd2",
    event_timestamp_column="happened_on",
    apply_as_deletes="kind = 'left'",
    incremental_column="entry",
    source_connection=personnel,
    target_connection=warehouse,
)
def assignments():
    return LOG


@ematix.pipeline(
    target=Staff,
    mode="merge",
    sequence_by=["happened_on"],
    apply_as_deletes="kind = 'left'",
    incremental_column="entry",
    source_connection=personnel,
    target_connection=warehouse,
)
def staff():
    return LOG


IN_TIME = [
    ("mira", "support", "2026-01-05", "joined"),
    ("mira", "sales", "2026-06-01", "moved"),
    ("otto", "sales", "2026-02-01", "joined"),
    ("otto", "sales", "2026-07-31", "left"),
]
LATE = [
    # Between her two teams she was in a third one.
    ("mira", "quality", "2026-03-15", "moved"),
    # He had left and come back in spring, and stayed away in the end.
    ("otto", "sales", "2026-04-30", "left"),
    ("otto", "support", "2026-05-18", "joined"),
]


def write_log(file: Path, entries: list[tuple[str, str, str, str]]) -> None:
    """Stand in for the application that keeps the log."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(
            "CREATE TABLE IF NOT EXISTS log (entry INTEGER PRIMARY KEY, employee TEXT, team TEXT, "
            "happened_on DATE, kind TEXT)"
        )
        database.executemany(
            "INSERT INTO log (employee, team, happened_on, kind) VALUES (?, ?, ?, ?)", entries
        )


if __name__ == "__main__":
    write_log(Path("personnel.db"), LATE if sys.argv[1:] == ["late"] else IN_TIME)
