"""`flow demo`: a small shop, from its sources to a report."""

from __future__ import annotations

import shlex
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import click

from ematix_flow.cli.demo_data import make_shop_data
from ematix_flow.cli.options import Context, shared_options
from ematix_flow.cli.progress import run_observer
from ematix_flow.cli.scaffold import copy_template
from ematix_flow.errors import UsageError

# Says that a folder is a demo's, so that the next demo may replace it.
_MARKER = ".ematix-demo"


@click.command()
@click.argument("directory", type=click.Path(path_type=Path), default=Path("ematix-demo"))
@shared_options
def demo(context: Context, directory: Path) -> None:
    """Run a small shop from end to end in DIRECTORY (default: ./ematix-demo).

    Customers from SQLite, products from Parquet and orders from CSV land in DuckDB;
    a report over them lands in SQLite.
    """
    folder = context.project / directory
    _clear(folder)
    copy_template("shop", folder)
    (folder / _MARKER).touch()
    make_shop_data(folder / "data")

    from ematix_flow.api import Flow

    with run_observer(context.output) as observer:
        flow = Flow.open(folder, engine=context.engine, observer=observer)
        runs = [flow.run(name) for name in flow.order(())]
    report = _report(folder / "results" / "reports.db")
    context.output.emit(
        {
            "directory": str(folder.resolve()),
            "runs": [run.to_json() for run in runs],
            "revenue_by_country": [
                dict(zip(("country", "customers", "orders", "revenue"), row, strict=True))
                for row in report
            ],
        },
        _story(folder, [(run.pipeline, run.rows.inserted) for run in runs], report),
    )


def _clear(folder: Path) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not (folder / _MARKER).is_file():
        raise UsageError(
            f"{str(folder)!r} is not empty and not an earlier demo; nothing was changed",
            hint="choose another folder: flow demo my-demo",
        )
    shutil.rmtree(folder)


def _report(file: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as database:
        return database.execute(
            "SELECT country, customers, orders, revenue FROM revenue_by_country "
            "ORDER BY CAST(revenue AS REAL) DESC"
        ).fetchall()


def _story(folder: Path, loaded: list[tuple[str, int]], report: list[tuple[object, ...]]) -> str:
    width = max(len(name) for name, _ in loaded)
    lines = ["", "Loaded:"]
    lines += [f"  {name:<{width}}  {rows:>6,} rows" for name, rows in loaded]
    lines += ["", "Revenue by country:", "  country  customers  orders      revenue"]
    lines += [f"  {c!s:<7}  {n!s:>9}  {o!s:>6}  {r!s:>11}" for c, n, o, r in report]
    flow = shlex.quote(sys.argv[0]) if Path(sys.argv[0]).name == "flow" else "flow"
    lines += [
        "",
        "Where the results are:",
        f"  {folder}/results/warehouse.duckdb   shop.customers, shop.products, shop.orders",
        f"  {folder}/results/reports.db         revenue_by_country",
        f"  {folder}/pipelines.py               what was declared",
        "",
        "What to try next:",
        f"  {flow} runs --project {folder}",
        f"  {flow} explain revenue_by_country --project {folder}",
        f"  {flow} engine start --project {folder}      # keeps Spark warm for the next runs",
        f"  {flow} run revenue_by_country --project {folder}",
        f"  {flow} init my-project",
    ]
    return "\n".join(lines)
