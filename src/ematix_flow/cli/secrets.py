"""`flow secrets`: whether every `${...}` leads somewhere."""

from __future__ import annotations

import click

from ematix_flow.cli.options import Context, shared_options
from ematix_flow.connections.audit import ReferenceAudit, audit
from ematix_flow.errors import EXIT_CHECKS


@click.group()
def secrets() -> None:
    """Test the references to secrets; never shows one."""


@secrets.command()
@click.argument("names", nargs=-1, metavar="[CONNECTION]...")
@shared_options
def test(context: Context, names: tuple[str, ...]) -> int:
    """Resolve every ${...} of the connections (all, or those named). Exit 3 when one fails.

    \b
    Examples:
      flow secrets test
      flow secrets test warehouse
    """
    found = audit(context.flow().connections, names)
    context.output.emit(
        {"references": [each.to_json() for each in found]},
        "\n".join(_line(each) for each in found) or "No connection refers to a secret.",
    )
    return 0 if all(each.ok for each in found) else EXIT_CHECKS


def _line(each: ReferenceAudit) -> str:
    place = f"{each.connection}.{each.key}" if each.key else each.connection
    if each.error is None:
        return f"ok  {place}  {each.reference}  from {each.source}"
    line = f"!!  {place}  {each.reference}  {each.error.what}"
    return f"{line}\n    Hint: {each.error.hint}" if each.error.hint else line
