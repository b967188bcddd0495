"""`flow doctor`."""

from __future__ import annotations

import click

from ematix_flow.cli.checks import check_lines, exit_code
from ematix_flow.cli.options import Context, shared_options


@click.command()
@shared_options
def doctor(context: Context) -> int:
    """Check the machine, the engine, the state folders and each connection's ${...}.

    Exit 3 when one of them would stop a run. Sources and targets are not opened: `flow plan`
    looks at those.
    """
    checks = context.flow().doctor()
    code = exit_code(checks)
    context.output.emit(
        {"healthy": code == 0, "checks": [check.to_json() for check in checks]},
        check_lines(checks),
    )
    return code
