"""`flow run`."""

from __future__ import annotations

import click

from ematix_flow.cli.counts import counted, target_lines
from ematix_flow.cli.options import ALLOW_DESTRUCTIVE, Context, shared_options
from ematix_flow.cli.progress import run_observer
from ematix_flow.errors import UsageError
from ematix_flow.record.run import RunResult


@click.command()
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Run every pipeline, in order.")
@click.option(
    "--new",
    is_flag=True,
    help="Load again even if an interrupted run had already landed.",
)
@ALLOW_DESTRUCTIVE
@shared_options
def run(
    context: Context,
    names: tuple[str, ...],
    *,
    everything: bool,
    new: bool,
    allow_destructive: bool,
) -> None:
    """Run NAMES, each after what it depends on. The first failure stops the rest.

    \b
    Examples:
      flow run load_orders
      flow run --all
      flow run load_orders --engine sail --format json
    """
    if everything == bool(names):
        raise UsageError(
            "flow run takes pipeline names, or --all", hint="`flow list` shows the names"
        )
    with run_observer(context.output) as observer:
        flow = context.flow(observer)
        done: list[RunResult] = []
        try:
            for name in flow.order(names):
                run = flow.run(name, new=new, allow_destructive=allow_destructive)
                done.append(run)
        finally:
            # What has landed is told, also when a later one failed.
            if done:
                told = "\n".join(run_lines(each) for each in done)
                context.output.emit({"runs": [each.to_json() for each in done]}, told)


def run_lines(run: RunResult) -> str:
    """Tell what a run did."""
    landed = "  (had already landed before the interruption)" if run.adopted else ""
    first = f"{run.pipeline}: {run.status.value}, {counted(run.rows)}  (run {run.run_id}){landed}"
    return "\n".join([first, *target_lines(run)])
