"""`flow doctor`."""

from __future__ import annotations

import click

from ematix_flow.cli.options import Context, shared_options
from ematix_flow.errors import EXIT_CHECKS
from ematix_flow.observe.check import Check, Health

_SIGN = {Health.OK: "ok", Health.NOTE: "--", Health.PROBLEM: "!!"}


@click.command()
@shared_options
def doctor(context: Context) -> int:
    """Check the machine, the engine, the state folders and each connection's ${...}.

    Exit 3 when one of them would stop a run. Sources and targets are not opened: `flow plan`
    looks at those.
    """
    checks = context.flow().doctor()
    healthy = all(check.health is not Health.PROBLEM for check in checks)
    width = max(len(check.name) for check in checks)
    context.output.emit(
        {"healthy": healthy, "checks": [check.to_json() for check in checks]},
        "\n".join(_line(check, width) for check in checks),
    )
    return 0 if healthy else EXIT_CHECKS


def _line(check: Check, width: int) -> str:
    line = f"{_SIGN[check.health]}  {check.name:<{width}}  {check.finding}"
    return f"{line}\n    {'':<{width}}  Hint: {check.hint}" if check.hint else line
