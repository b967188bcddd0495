"""`flow backfill`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ematix_flow._base.redact import redact
from ematix_flow.cli.counts import counted
from ematix_flow.cli.options import Context, shared_options
from ematix_flow.cli.progress import run_observer

if TYPE_CHECKING:
    from ematix_flow.engine.runs.backfill import BackfillResult, Chunk


@click.command()
@click.argument("name")
@click.option("--from", "start", required=True, metavar="X", help="The first value to load.")
@click.option("--to", "end", required=True, metavar="Y", help="The first value not to load.")
@click.option(
    "--chunk",
    metavar="C",
    help="How much one run loads: 1d, 6h for times, 10000 for numbers (default: all at once).",
)
@click.option("--keep-going", is_flag=True, help="Go on with the next chunk when one fails.")
@click.option("--new", is_flag=True, help="Begin again even if the same backfill never ended.")
@shared_options
def backfill(
    context: Context,
    name: str,
    *,
    start: str,
    end: str,
    chunk: str | None,
    keep_going: bool,
    new: bool,
) -> None:
    """Load the rows of NAME from X to before Y of its incremental column again.

    Each chunk is a run of its own. The same command again goes on with the first chunk that has
    not landed. Later runs go on from where they were.

    \b
    Examples:
      flow backfill load_orders --from 2026-01-01 --to 2026-02-01 --chunk 1d
      flow backfill load_events --from 1 --to 5000000 --chunk 250000 --keep-going
    """
    with run_observer(context.output) as observer:
        done = context.flow(observer).backfill(
            name,
            start,
            end,
            chunk=chunk,
            keep_going=keep_going,
            new=new,
            on_chunk=lambda *told: None if context.output.is_json else _tell(*told),
        )
    context.output.emit({"backfill": done.to_json()}, _summary(done))
    if done.error is not None:
        raise done.error


def _tell(number: int, total: int, chunk: Chunk) -> None:
    rows = f", {counted(chunk.rows)}" if chunk.rows else ""
    what = f": {chunk.error.what}" if chunk.error else ""
    line = f"chunk {number} of {total} ({_shown(chunk)}): {chunk.status.value}{rows}{what}"
    sys.stderr.write(redact(line) + "\n")


def _shown(chunk: Chunk) -> str:
    return " and ".join(each for each in chunk.window if each is not None)


def _summary(done: BackfillResult) -> str:
    counts: dict[str, int] = {}
    for chunk in done.chunks:
        counts[chunk.status.value] = counts.get(chunk.status.value, 0) + 1
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    resumed = " (went on with one that never ended)" if done.resumed else ""
    return f"{done.pipeline}: {done.status.value}, {len(done.chunks)} chunks: {told}{resumed}"
