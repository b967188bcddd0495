"""`flow explain`."""

from __future__ import annotations

import click

from ematix_flow._base.redact import redact_value
from ematix_flow.cli.options import Context, shared_options
from ematix_flow.plan.explain import plan_json, plan_text


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
    settings = [
        f"  {each.key} = {redact_value(each.key, each.value)}  ({each.why})"
        for each in told.sizing.settings
    ]
    text = "\n".join(
        [
            plan_text(told.plan, sql=True),
            "",
            f"engine {told.engine.address}: {told.engine.why}",
            *settings,
        ]
    )
    data = {
        "plan": plan_json(told.plan),
        "engine": told.engine.to_json(),
        "settings": told.sizing.to_json(),
    }
    context.output.emit(data, text)
