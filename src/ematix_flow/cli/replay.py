"""`flow replay`."""

from __future__ import annotations

import click

from ematix_flow.cli.options import ALLOW_DESTRUCTIVE, Context, shared_options
from ematix_flow.cli.progress import run_observer
from ematix_flow.cli.run import run_lines


@click.command()
@click.argument("run_id")
@ALLOW_DESTRUCTIVE
@shared_options
def replay(context: Context, run_id: str, *, allow_destructive: bool) -> None:
    """Load what the run RUN_ID had loaded again, as another run.

    The same window of the incremental column is read; without one, the whole source. Later runs
    go on from where they were.

    \b
    Examples:
      flow runs load_orders
      flow replay 01a1e012-19c4-7b00-afab-d94479cc6051
    """
    with run_observer(context.output) as observer:
        done = context.flow(observer).replay(run_id, allow_destructive=allow_destructive)
    context.output.emit({"runs": [done.to_json()]}, run_lines(done))
