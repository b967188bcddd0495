"""`flow plan`."""

from __future__ import annotations

import click

from ematix_flow.cli.options import Context, shared_options
from ematix_flow.plan.explain import plan_json, plan_text


@click.command()
@click.argument("names", nargs=-1)
@shared_options
def plan(context: Context, names: tuple[str, ...]) -> None:
    """Show what a run would do (all pipelines, or NAMES). Changes nothing, starts no Spark.

    \b
    Examples:
      flow plan
      flow plan load_orders --format json
    """
    flow = context.flow()
    plans = [flow.plan(name) for name in flow.order(names)]
    context.output.emit(
        {"plans": [plan_json(each) for each in plans]},
        "\n\n".join(plan_text(each) for each in plans) or "No pipelines.",
    )
