"""`flow plan`."""

from __future__ import annotations

import click

from ematix_flow.api import Explanation, Unplannable
from ematix_flow.cli.explanations import explanation_json, explanation_text
from ematix_flow.cli.options import Context, shared_options
from ematix_flow.plan.consent import require_consent


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--allow-destructive",
    is_flag=True,
    help="Accept changes that lose values; without it they end in exit code 4.",
)
@click.option(
    "--analyze",
    is_flag=True,
    help="Start Spark (no job) to learn the columns and lineage of frame code.",
)
@shared_options
def plan(
    context: Context, names: tuple[str, ...], *, allow_destructive: bool, analyze: bool
) -> None:
    """Show what a run would do (all pipelines, or NAMES). Changes nothing, starts no Spark.

    \b
    Examples:
      flow plan
      flow plan load_orders --format json
    """
    told = context.flow().explain_all(names, with_lineage=context.output.is_json, analyze=analyze)
    plans = [each for each in told if isinstance(each, Explanation)]
    wrong = [each for each in told if isinstance(each, Unplannable)]
    context.output.emit(
        {
            "plans": [explanation_json(each) for each in plans],
            "errors": [{"pipeline": each.pipeline, **each.error.to_json()} for each in wrong],
        },
        "\n\n".join(explanation_text(each) for each in plans) or ("" if wrong else "No pipelines."),
    )
    # All of them are told; the last one also decides about the exit code.
    for each in wrong[:-1]:
        context.output.error(each.error)
    if wrong:
        raise wrong[-1].error
    for planned in plans:
        require_consent(planned.plan, allow_destructive=allow_destructive)
