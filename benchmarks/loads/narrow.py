"""Many rows through a small driver: is memory bounded?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.loads.contest import Contest
from benchmarks.loads.contestants import CONTESTANTS, Load

if TYPE_CHECKING:
    from benchmarks.loads.server import Server

DRIVER = "2g"
SETTINGS = f'[spark]\n"spark.driver.memory" = "{DRIVER}"\n'


def pass_through(server: Server, rows: int, folder: Path) -> dict[str, Any]:
    """Append *rows* rows from PostgreSQL to PostgreSQL with ours; return what it took.

    The rows are compared as in the contest, so that a lost one is noticed.
    """
    [flow] = [each for each in CONTESTANTS if each.name == "flow-spark"]
    contest = Contest(server, rows, folder, settings=SETTINGS)
    print(f"making {rows:,} rows ...", file=sys.stderr)
    contest.make_first_day()
    print(f"loading them with a driver of {DRIVER} ...", file=sys.stderr)
    found = contest.measure(flow, Load("postgres", "append"))
    return {
        "rows": rows,
        "driver": DRIVER,
        "seconds": found.seconds,
        "peak_bytes": found.peak_bytes,
    }
