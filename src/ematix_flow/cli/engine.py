"""`flow engine`: a warm local Spark between runs."""

from __future__ import annotations

import click

from ematix_flow.cli.options import Context, shared_options
from ematix_flow.declare.config import load_config
from ematix_flow.engine.host.installed import require_classic, require_pyspark
from ematix_flow.engine.server import server
from ematix_flow.engine.server.status import ServerStatus


@click.group()
def engine() -> None:
    """Keep a warm local Spark, so that runs start in about a second.

    It listens on this machine only, and `flow run` finds and uses it by itself.
    """


@engine.command()
@click.option(
    "--idle-minutes",
    type=click.FloatRange(min=0, min_open=True),
    default=server.DEFAULT_IDLE_MINUTES,
    show_default=True,
    help="Stop by itself after this long without a run.",
)
@shared_options
def start(context: Context, idle_minutes: float) -> None:
    """Start the warm Spark with every connector the project needs.

    \b
    Examples:
      flow engine start
      flow engine start --idle-minutes 120
    """
    now = context.flow().start_engine(idle_minutes=idle_minutes)
    context.output.emit({"engine": now.to_json()}, _told(now))


@engine.command()
@click.option("--force", is_flag=True, help="Stop it even while it works.")
@shared_options
def stop(context: Context, *, force: bool) -> None:
    """Stop the warm Spark; refused while a run is on it."""
    was = server.stop(load_config(context.project).state_directory, force=force)
    text = f"Stopped (pid {was.pid})." if was.pid else "It was not running."
    context.output.emit({"engine": was.to_json()}, text)


@engine.command()
@shared_options
def status(context: Context) -> None:
    """Show whether the warm Spark is up, and who uses it."""
    now = server.status(load_config(context.project).state_directory)
    context.output.emit({"engine": now.to_json()}, _told(now))


@engine.command()
@click.option("--force", is_flag=True, help="Make it anew.")
@shared_options
def prepare(context: Context, *, force: bool) -> None:
    """Make cold starts faster: keep what the JVM learns while starting Spark (160 MB)."""
    from ematix_flow.engine.host.java import find_java
    from ematix_flow.engine.spark.archive import prepare as make

    require_pyspark()
    require_classic()
    java = find_java()
    path = make(java, force=force)
    context.output.emit(
        {"archive": str(path), "java": str(java), "size": path.stat().st_size},
        f"Runs without the warm Spark now start faster, with {java}.\n{path}",
    )


def _told(now: ServerStatus) -> str:
    match now.standing:
        case "up":
            use = f"{now.leases} run(s) on it" if now.busy else f"idle for {now.idle_seconds:.0f} s"
            if now.stopping:
                return f"Stopping (pid {now.pid})."
            lines = [f"Up at {now.address} (pid {now.pid}), {use}."]
            if now.idle_minutes is not None:
                lines.append(f"It stops after {now.idle_minutes:g} minutes without a run.")
            if now.connectors:
                lines.append(f"Connectors: {', '.join(now.connectors)}.")
            lines += [f"It does not suit this project: {each}." for each in now.differences]
            return "\n".join(lines)
        case "stale":
            return f"Gone (pid {now.pid}); the next run removes what it left."
        case "unresponsive":
            return f"There (pid {now.pid}) but not answering; flow engine stop --force ends it."
        case "down":
            return "Not running. Start it: flow engine start"
