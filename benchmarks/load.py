"""How fast are loads into databases? Ours against Spark JDBC, ematix-flow 1.0 and dlt.

A million rows of 12 mixed columns go from PostgreSQL into PostgreSQL and DuckDB: appended, and on
a second day, with a tenth of them changed, merged and kept as history. Each contestant is a fresh
process in its own environment; a time counts when the target's rows equal the source's.

    python benchmarks/load.py [--rows 1000000] [--repeat 5] [--only flow:merge] [--resume] [--page]
    python benchmarks/load.py --memory ...  # and 20 million rows through a driver of 2 GB
"""

from __future__ import annotations

import sys
from pathlib import Path

# The contest's own modules, and the servers of the tests.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.loads.command import main

if __name__ == "__main__":
    sys.exit(main())
