"""`flow runs`."""

from __future__ import annotations

import click

from ematix_flow.cli.counts import counted
from ematix_flow.cli.options import Context, shared_options
from ematix_flow.record.run import RunResult, RunStatus


@click.command()
@click.argument("pipeline", required=False)
@click.option("--limit", type=click.IntRange(min=1), default=20, help="How many (default 20).")
@shared_options
def runs(context: Context, pipeline: str | None, limit: int) -> None:
    """Show what was run, newest first.

    \b
    Examples:
      flow runs
      flow runs load_orders --limit 5 --format json
    """
    found = context.flow().runs(pipeline, limit)
    context.output.emit_table(
        {"runs": [each.to_json() for each in found]},
        ["run", "pipeline", "what", "status", "started", "seconds", "rows", "engine", "error"],
        [_row(each) for each in found],
        empty="No runs yet.",
    )


def _row(run: RunResult) -> list[str]:
    engine = f"{run.engine.get('engine', '')} {run.engine.get('mode', '')}".strip()
    return [
        run.run_id,
        run.pipeline,
        run.purpose.value,
        run.status.value,
        run.started_at[:19].replace("T", " "),
        f"{run.seconds:.1f}",
        counted(run.rows) if run.status is RunStatus.SUCCEEDED else "",
        engine,
        str(run.error["what"]) if run.error else "",
    ]
