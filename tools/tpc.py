"""Write the TPC data, queries and DuckDB's own answers below a folder.

    .venv-tpc/bin/python tools/tpc.py FOLDER [SCALE]

Runs in an environment of its own (requirements/tpc.txt), because the extensions that hold the
generators load only into the DuckDB they were built for, which is not the one that flow uses.
Per benchmark: tables/NAME.parquet, queries/NN.sql, answers/NN.json, columns.json.
"""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

GENERATORS = {"tpch": "dbgen", "tpcds": "dsdgen"}


def main(folder: Path, scale: float) -> None:
    """Write both benchmarks."""
    import duckdb

    for benchmark in GENERATORS:
        with duckdb.connect() as connection:
            _load_extension(connection, benchmark)
            write(connection, benchmark, folder / benchmark, scale)


def _load_extension(connection: Any, name: str) -> None:
    # By its path: by its name DuckDB would look into the user's home, then on the network.
    installed = Path(str(files(f"duckdb_extension_{name}"))).glob("extensions/*/*.duckdb_extension")
    connection.load_extension(str(next(installed)))


def write(connection: Any, benchmark: str, folder: Path, scale: float) -> None:
    """Write one benchmark's tables, then its queries and their answers."""
    for part in ("tables", "queries", "answers"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    connection.execute(f"CALL {GENERATORS[benchmark]}(sf = {scale})")
    columns: dict[str, list[str]] = {}
    for (table,) in connection.execute("SHOW TABLES").fetchall():
        columns[table] = [name for name, *_ in connection.execute(f"DESCRIBE {table}").fetchall()]
        target = folder / "tables" / f"{table}.parquet"
        connection.execute(f"COPY {table} TO '{target}' (FORMAT parquet)")
    (folder / "columns.json").write_text(json.dumps(columns, indent=1) + "\n")

    for number, text in connection.execute(f"FROM {benchmark}_queries()").fetchall():
        (folder / "queries" / f"{number:02}.sql").write_text(text)
        answer = connection.execute(text)
        document = {
            "names": [each[0] for each in answer.description],
            "types": [str(each[1]) for each in answer.description],
            "rows": answer.fetchall(),
        }
        with (folder / "answers" / f"{number:02}.json").open("w") as file:
            json.dump(document, file, default=str, indent=0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0.01)
