"""`flow jars`: the connectors Spark loads, fetched once and verified."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ematix_flow.cli.options import Context, shared_options
from ematix_flow.engine.jars.store import JarCache, JarState

_CONNECTORS = click.argument("connectors", nargs=-1, metavar="[CONNECTOR]...")


@click.group()
def jars() -> None:
    """Fetch and verify Spark's connectors.

    A run fetches what it needs by itself; these commands do it ahead of time.
    """


@jars.command("list")
@_CONNECTORS
@shared_options
def list_jars(context: Context, connectors: tuple[str, ...]) -> None:
    """Show every jar of the lock, and whether it is here.

    \b
    Examples:
      flow jars list
      flow jars list postgres kafka
    """
    cache = JarCache()
    _show(context, cache, cache.list(connectors))


@jars.command()
@_CONNECTORS
@click.option("--force", is_flag=True, help="Fetch anew what is already here.")
@shared_options
def fetch(context: Context, connectors: tuple[str, ...], *, force: bool) -> None:
    """Bring connectors (none named: all) into the cache.

    \b
    Examples:
      flow jars fetch postgres
      flow jars fetch --force
    """
    cache = JarCache()
    _show(context, cache, cache.fetch(connectors, force=force))


@jars.command()
@_CONNECTORS
@shared_options
def verify(context: Context, connectors: tuple[str, ...]) -> None:
    """Check the cached jars against the lock; fails when one is corrupt."""
    cache = JarCache()
    _show(context, cache, cache.verify(connectors), empty="No jars in the cache.")


def _show(
    context: Context, cache: JarCache, found: Sequence[JarState], *, empty: str = "No jars."
) -> None:
    context.output.emit_table(
        {"directory": str(cache.directory), "jars": [jar.to_json() for jar in found]},
        ["connector", "jar", "state", "size"],
        [[", ".join(jar.connectors), jar.coordinates, jar.state, _size(jar)] for jar in found],
        empty=empty,
    )


def _size(jar: JarState) -> str:
    return "" if jar.size is None else f"{jar.size / 1024:,.0f} KiB"
