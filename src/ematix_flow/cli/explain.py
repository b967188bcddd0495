"""`flow explain`."""

from __future__ import annotations

import click

from ematix_flow.cli.explanations import explanation_json, full_text
from ematix_flow.cli.options import Context, shared_options


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
    context.output.emit({"plan": explanation_json(told)}, full_text(told))
