"""`flow validate`."""

from __future__ import annotations

import click

from ematix_flow.cli.options import Context, shared_options
from ematix_flow.errors import EXIT_CHECKS


@click.command()
@click.argument("names", nargs=-1)
@shared_options
def validate(context: Context, names: tuple[str, ...]) -> int:
    """Plan NAMES (default: all) and have each source analyse its query. Reads no row.

    A database is asked to explain the query; queries over files and functions that work on
    frames are analysed by Spark, which is started for them and runs no job.

    \b
    Examples:
      flow validate
      flow validate load_orders --format json
    """
    flow = context.flow()
    results = [flow.validate(name) for name in flow.order(names)]
    lines = [f"{each.pipeline}: {each.text}" for each in results]
    context.output.emit(
        {"validations": [each.to_json() for each in results]}, "\n".join(lines) or "No pipelines."
    )
    return EXIT_CHECKS if any(each.error is not None for each in results) else 0
