"""`flow transform`: pieces of SQL that run in a database on their own."""

from __future__ import annotations

import click

from ematix_flow.cli.options import Context, shared_options


@click.group()
def transform() -> None:
    """See and run stand-alone transforms."""


@transform.command("list")
@shared_options
def list_transforms(context: Context) -> None:
    """Show the project's transforms."""
    flow = context.flow()
    found = list(flow.project.transforms.values())
    data = [
        {
            "name": each.name,
            "connection": each.target_connection,
            "depends_on": list(each.depends_on),
            "location": str(each.location),
            "description": each.description,
        }
        for each in found
    ]
    context.output.emit_table(
        {"transforms": data},
        ["transform", "in", "after", "declared at"],
        [
            [each.name, each.target_connection, ", ".join(each.depends_on), str(each.location)]
            for each in found
        ],
        empty="No transforms.",
    )


@transform.command()
@click.argument("name")
@shared_options
def run(context: Context, name: str) -> None:
    """Run the transform NAME in its database, in one transaction.

    \b
    Example:
      flow transform run tidy
    """
    done = context.flow().run_transform(name)
    statements = "1 statement" if done.statements == 1 else f"{done.statements} statements"
    context.output.emit(
        {"transform": name, "statements": done.statements, "rows": done.rows},
        f"{name}: done, {statements}, {done.rows:,} rows changed",
    )
