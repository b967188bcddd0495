"""`flow explain`."""

from __future__ import annotations

import click

from ematix_flow.cli.explanations import full_text
from ematix_flow.cli.options import Context, shared_options
from ematix_flow.plan.show import plan_json


@click.command()
@click.argument("name")
@shared_options
def explain(context: Context, name: str) -> None:
    """Show the steps of NAME with their SQL, and the engine with each of its settings and why.

    \b
    Example:
      flow explain load_orders
    """
    told = context.flow().explain(name)
    data = {
        "plan": plan_json(told.plan),
        "engine": told.engine.to_json(),
        "settings": told.sizing.to_json(),
    }
    context.output.emit(data, full_text(told))
