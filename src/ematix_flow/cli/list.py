"""`flow list`."""

from __future__ import annotations

import click

from ematix_flow.cli.options import Context, shared_options


@click.command("list")
@shared_options
def list_pipelines(context: Context) -> None:
    """Show the project's pipelines, in the order they would run."""
    flow = context.flow()
    pipelines = flow.pipelines()
    data = [
        {
            "name": each.name,
            "source_connection": each.source_connection,
            "targets": [
                {
                    "connection": one.connection,
                    "table": str(one.name),
                    "mode": one.write.mode.value,
                }
                for one in each.targets
            ],
            "depends_on": [edge.upstream for edge in flow.after(each.name)],
            "tags": list(each.tags),
            "location": str(each.location),
            "description": each.description,
        }
        for each in pipelines
    ]
    rows = [
        [
            each.name,
            ", ".join(dict.fromkeys(one.write.mode.value for one in each.targets)),
            each.source_connection or "",
            ", ".join(f"{one.connection}.{one.name}" for one in each.targets),
            ", ".join(edge.upstream for edge in flow.after(each.name)),
            str(each.location),
        ]
        for each in pipelines
    ]
    context.output.emit_table(
        {"pipelines": data},
        ["pipeline", "mode", "from", "into", "after", "declared at"],
        rows,
        empty=f"No pipelines in {flow.config.directory}. `flow init` starts a project.",
    )
