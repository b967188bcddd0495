"""`flow demo`: a small shop, a day of changes in it, and what that does to its history."""

from __future__ import annotations

import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ematix_flow.cli.demo_data import change_shop, make_shop
from ematix_flow.cli.demo_history import (
    Sum,
    Version,
    Warehouse,
    changed_history,
    changed_sums,
    history_rows,
    sum_rows,
)
from ematix_flow.cli.options import Context, shared_options
from ematix_flow.cli.output import Output
from ematix_flow.cli.progress import run_observer
from ematix_flow.cli.scaffold import copy_template
from ematix_flow.errors import UsageError

if TYPE_CHECKING:
    from ematix_flow.api import Flow
    from ematix_flow.record.run import RunResult
    from ematix_flow.spec.pipeline import Pipeline

# Says that a folder is a demo's, so that the next demo may replace it.
_MARKER = ".ematix-demo"
_WORKFLOW = "shop_day"
_COUNTED = ("read", "inserted", "updated", "unchanged", "closed", "deleted")
_STYLES = {"opened": "green", "closed": "red", "ends earlier": "yellow", "late, spliced in": "cyan"}


@click.command()
@click.argument("directory", type=click.Path(path_type=Path), default=Path("ematix-demo"))
@shared_options
def demo(context: Context, directory: Path) -> None:
    """Run a small shop from end to end in DIRECTORY (default: ./ematix-demo).

    A shop in SQLite is loaded into DuckDB: its orders appended, its customers merged, their
    history kept, its revenue summed up. Then a day passes in the shop, and it is loaded again.
    """
    folder, output = context.project / directory, context.output
    _clear(folder)
    copy_template("shop", folder)
    (folder / _MARKER).touch()
    shop = folder / "data" / "shop.db"

    from ematix_flow.api import Flow

    output.tell(f"1. A shop in SQLite: {make_shop(shop)}.\n")
    flow = Flow.open(folder, engine=context.engine)
    output.tell("2. Everything is loaded into DuckDB, each table in the way that suits it.")
    output.tell(_purposes(flow))
    first = _load(flow, output)
    before = Warehouse.read(flow)

    change_shop(shop, folder / "changes.sql")
    output.tell("3. A day of changes, deletions and late rows in the shop: see changes.sql.\n")
    output.tell("4. It is loaded again: new rows are read, changed rows are written.")
    second = _load(flow, output)
    after = Warehouse.read(flow)

    history, sums = changed_history(before, after), changed_sums(before, after)
    _tell_changes(output, history, sums)
    output.emit(
        {
            "directory": str(folder.resolve()),
            "loads": [[run.to_json() for run in runs] for runs in (first, second)],
            "history": [each.to_json() for each in history],
            "daily_revenue": [each.to_json() for each in sums],
        },
        _what_next(folder),
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


def _pipelines(flow: Flow) -> tuple[Pipeline, ...]:
    jobs = flow.project.workflows[_WORKFLOW].jobs
    return tuple(flow.project.pipelines[name] for name in flow.order(jobs))


def _purposes(flow: Flow) -> str:
    """Return what each pipeline is for, in its own words."""
    return "\n".join(f"   {each.name}: {each.function.__doc__}" for each in _pipelines(flow))


def _load(flow: Flow, output: Output) -> list[RunResult]:
    with run_observer(output) as observer:
        observed = replace(flow, observer=observer)
        runs = [observed.run(each.name) for each in _pipelines(flow)]
    output.tell_table(["pipeline", "mode", *_COUNTED], [_counts(flow, run) for run in runs])
    for run in runs:
        if run.path == "in_database":
            output.tell(f"   {run.pipeline} never left DuckDB: no Spark, no row on the way.\n")
    return runs


def _counts(flow: Flow, run: RunResult) -> list[str]:
    mode = flow.project.pipelines[run.pipeline].targets[0].write.mode.value
    counts = run.rows.to_json()
    # A blank is easier to overlook than a nought, and should be.
    return [run.pipeline, mode, *(str(counts[name] or "") for name in _COUNTED)]


def _tell_changes(output: Output, history: list[Version], sums: list[Sum]) -> None:
    output.tell("5. The history of those whose history changed, one row per version.")
    output.tell_table(
        ["customer", "city", "valid from", "valid to", "this day"],
        history_rows(history),
        [_STYLES.get(each.change, "") for each in history],
    )
    output.tell(
        "   Alan and Katherine once lived elsewhere, says the log three weeks late. Katherine's\n"
        "   address had been confirmed on the 15th: that was no change when it came, and is now.\n"
    )
    output.tell(
        "6. The revenue that changed, by day and category: two orders of the 28th came late."
    )
    output.tell_table(
        ["day", "category", "orders before", "after", "revenue before", "after"], sum_rows(sums)
    )


def _what_next(folder: Path) -> str:
    flow = shlex.quote(sys.argv[0]) if Path(sys.argv[0]).name == "flow" else "flow"
    where = f"--project {shlex.quote(str(folder))}"
    lines = [
        "Where the results are:",
        f"  {folder}/pipelines.py               what was declared",
        f"  {folder}/changes.sql                what happened in the shop",
        f"  {folder}/data/shop.db               the shop",
        f"  {folder}/results/warehouse.duckdb   the warehouse",
        "",
        "What to try next:",
        f"  {flow} run --all {where}      # nothing is new, nothing changes",
        f"  {flow} explain customer_history {where}      # the SQL of its commit",
        f"  {flow} backfill orders --from 1 --to 601 --chunk 200 {where}",
        f"  {flow} runs {where}",
        f"  {flow} plan {where}      # the path of each load, and why",
        f"  {flow} init my-project",
    ]
    return "\n".join(lines)
