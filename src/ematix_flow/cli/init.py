"""`flow init`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from ematix_flow.cli.options import Context, shared_options
from ematix_flow.cli.scaffold import copy_template


@click.command()
@click.argument("directory", type=click.Path(path_type=Path), default=Path())
@shared_options
def init(context: Context, directory: Path) -> None:
    """Start a project in DIRECTORY (default: here) that runs at once.

    \b
    Example:
      flow init shop && cd shop && flow run --all
    """
    target = context.project / directory
    made = copy_template("starter", target)
    shown = [str(path.relative_to(target)) for path in made]
    enter = "" if target.resolve() == Path.cwd() else f"cd {shlex.quote(str(target))} && "
    lines = [f"Made {', '.join(shown)} in {target.resolve()}.", "", "Next:"]
    lines += [f"  {enter}flow plan", f"  {enter}flow run --all"]
    context.output.emit({"directory": str(target.resolve()), "files": shown}, "\n".join(lines))
