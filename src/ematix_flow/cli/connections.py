"""`flow connections`: what is declared, whether it answers, and writing it down."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import click

from ematix_flow._base.files import PRIVATE_FILE, private_directory
from ematix_flow.cli.checks import check_lines, exit_code
from ematix_flow.cli.options import Context, shared_options
from ematix_flow.connections.check import Probe, check_connection
from ematix_flow.connections.edit import TomlFile
from ematix_flow.connections.home import HOME_FILE, home_of
from ematix_flow.connections.load import Connections
from ematix_flow.connections.model import Connection
from ematix_flow.declare.config import load_config
from ematix_flow.errors import FlowError


@click.group()
def connections() -> None:
    """See, check and write connections, wherever they are declared."""


@connections.command("list")
@shared_options
def list_connections(context: Context) -> None:
    """Show every connection: of the code, the environment, the project and your home."""
    known = context.flow().connections
    data = [_entry(known, name) for name in known.names()]
    rows = [
        [
            str(each["name"]),
            str(each["kind"] or "?"),
            str(each["origin"]),
            str(each["error"] or _told(each["config"])),
        ]
        for each in data
    ]
    context.output.emit_table(
        {"connections": data},
        ["connection", "kind", "declared at", "properties"],
        rows,
        empty="No connections. `flow connections set NAME key=value...` writes one.",
    )


def _entry(known: Connections, name: str) -> dict[str, object]:
    entry: dict[str, object] = {"name": name, "kind": None, "origin": "?", "also_at": []}
    try:
        entry["origin"], *entry["also_at"] = known.places(name)
        connection = known[name]
    except FlowError as error:
        return {**entry, "config": {}, "error": error.what}
    return {**entry, "kind": connection.kind, "config": connection.shown(), "error": None}


def _told(config: object) -> str:
    assert isinstance(config, dict)
    return ", ".join(f"{key}={value}" for key, value in config.items() if key != "kind")


@connections.command()
@click.argument("names", nargs=-1)
@shared_options
def check(context: Context, names: tuple[str, ...]) -> int:
    """Resolve and reach connections (all, or NAMES). Exit 3 when one fails.

    \b
    Examples:
      flow connections check
      flow connections check warehouse
    """
    known = context.flow().connections
    for name in names:
        known[name]  # an unknown name is a mistake of the call, not a failed check
    checks = [check_connection(name, known, _probes()) for name in names or known.names()]
    context.output.emit(
        {"checks": [each.to_json() for each in checks]}, check_lines(checks) or "No connections."
    )
    return exit_code(checks)


def _probes() -> dict[str, Probe]:
    from ematix_flow.backends.registry import backends
    from ematix_flow.ports import Backend

    def probe(backend: Backend) -> Probe:
        def opened(connection: Connection) -> str:
            return backend.reader(connection).inspect(None).description

        return opened

    return {kind: probe(backend) for kind, backend in backends().items()}


@connections.command("set")
@click.argument("name")
@click.argument("assignments", nargs=-1, required=True, metavar="KEY=VALUE...")
@click.option("--home", is_flag=True, help="Write into ~/.ematix-flow/connections.toml.")
@click.option("--allow-inline", is_flag=True, help="Write a secret out all the same.")
@shared_options
def set_connection(
    context: Context, name: str, assignments: tuple[str, ...], *, home: bool, allow_inline: bool
) -> None:
    """Write the connection NAME into the project's TOML; the rest of the file stays as it is.

    \b
    Examples:
      flow connections set warehouse kind=postgres host=db database=shop user=app
      flow connections set warehouse password='${WAREHOUSE_PASSWORD}'
      flow connections set events properties.linger.ms=5
    """
    file = _home_file() if home else TomlFile(path=Path(load_config(context.project).origin))
    written = file.set(name, assignments, allow_inline=allow_inline)
    first = _counts_first(context, name, file.path)
    note = f"\nNote: {first} declares {name} too, and counts first." if first else ""
    context.output.emit(
        {"name": name, "file": str(file.path), "config": written.shown(), "hidden_by": first},
        f"{name}: {_told(written.shown())}\nWritten to {file.path}.{note}",
    )


def _counts_first(context: Context, name: str, file: Path) -> str | None:
    """Say which other place hides what was written, if the project can be loaded."""
    with suppress(FlowError):
        first = context.flow().connections.places(name)[0]
        return first if first != str(file) else None
    return None


def _home_file() -> TomlFile:
    path = home_of(os.environ) / HOME_FILE
    private_directory(path.parent)
    return TomlFile(path=path, mode=PRIVATE_FILE, private=True)
