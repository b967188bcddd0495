"""`flow preview`."""

from __future__ import annotations

import click

from ematix_flow.cli.options import Context, shared_options
from ematix_flow.cli.progress import run_observer


@click.command()
@click.argument("name")
@click.option(
    "-n", "--rows", type=click.IntRange(min=1), default=20, help="How many rows (default 20)."
)
@shared_options
def preview(context: Context, name: str, rows: int) -> None:
    """Show the first rows of NAME as they would reach the target. Writes nothing.

    They are read, transformed, cleaned and judged as in a run; a row that breaks the target's
    declaration is shown with what is wrong with it.

    \b
    Examples:
      flow preview load_orders
      flow preview load_orders -n 5 --format json
    """
    with run_observer(context.output) as observer:
        found = context.flow(observer).preview(name, rows)
    bad = any(problem is not None for problem in found.problems)
    columns = [*found.columns, *(["problem"] if bad else [])]
    cells = [
        [*("NULL" if value is None else str(value) for value in row), *([problem or ""] * bad)]
        for row, problem in zip(found.rows, found.problems, strict=True)
    ]
    context.output.emit_table({"preview": found.to_json()}, columns, cells, empty="No rows.")
