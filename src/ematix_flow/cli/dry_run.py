"""`flow dry-run`."""

from __future__ import annotations

import click

from ematix_flow.cli.counts import counted, target_lines
from ematix_flow.cli.options import Context, shared_options
from ematix_flow.cli.progress import run_observer


@click.command("dry-run")
@click.argument("name")
@click.option(
    "--allow-destructive",
    is_flag=True,
    help="Count also what would lose values (see flow plan).",
)
@shared_options
def dry_run(context: Context, name: str, *, allow_destructive: bool) -> None:
    """Count what a run of NAME would change, by doing it and undoing it.

    Rows are read and staged as in a run, and the commit is rolled back: the target, its ledger
    and the watermark stay as they are.

    \b
    Examples:
      flow dry-run load_orders
      flow dry-run load_orders --format json
    """
    with run_observer(context.output) as observer:
        done = context.flow(observer).dry_run(name, allow_destructive=allow_destructive)
    text = f"{name}: dry run, {counted(done.rows)}; nothing was changed"
    context.output.emit({"dry_run": done.to_json()}, "\n".join([text, *target_lines(done)]))
