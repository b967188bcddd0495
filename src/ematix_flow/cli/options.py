"""The options every command shares, and the context they make."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ematix_flow.cli.output import Output
from ematix_flow.observe.events import Observer, ignore

if TYPE_CHECKING:
    from ematix_flow.api import Flow

ALLOW_DESTRUCTIVE = click.option(
    "--allow-destructive",
    is_flag=True,
    help="Accept changes of the target that lose values (see flow plan).",
)

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the shared options say."""

    project: Path
    modules: tuple[str, ...]
    engine: str | None
    output: Output

    def flow(self, observer: Observer = ignore) -> Flow:
        """Open the project."""
        from ematix_flow.api import Flow

        return Flow.open(self.project, modules=self.modules, engine=self.engine, observer=observer)


# How the running command speaks, for whoever reports its error.
_output: ContextVar[Output | None] = ContextVar("output", default=None)


def current_output() -> Output:
    """Return how the running command speaks."""
    return _output.get() or Output()


def shared_options(command: Command) -> Command:
    """Add `--project --module --engine --format -v` and pass them on as one `Context`."""

    @wraps(command)
    def with_context(
        project: Path,
        modules: tuple[str, ...],
        engine: str | None,
        output_format: str,
        *,
        verbose: bool,
        **arguments: Any,
    ) -> Any:
        context = Context(
            project=project,
            modules=modules,
            engine=engine,
            output=Output(format=output_format, verbose=verbose),
        )
        _output.set(context.output)
        if not context.output.is_json:
            return command(context, **arguments)
        # A program reads our answer: what the user's own code prints must not get into it.
        with redirect_stdout(sys.stderr):
            return command(context, **arguments)

    for option in reversed(_OPTIONS):
        with_context = option(with_context)
    return with_context  # type: ignore[return-value]  # click options keep the callable


_OPTIONS = (
    click.option(
        "--project",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path(),
        metavar="DIR",
        help="Project folder (default: here).",
    ),
    click.option(
        "--module",
        "modules",
        multiple=True,
        metavar="M",
        help="Load only this module; may be given more than once.",
    ),
    click.option(
        "--engine",
        metavar="E",
        help="local, spark://..., yarn, k8s://..., sc://host:port, sail or auto.",
    ),
    click.option(
        "--format",
        "output_format",
        type=click.Choice(["text", "json"]),
        default="text",
        help="How to answer.",
    ),
    click.option("-v", "--verbose", is_flag=True, help="Say more; show stack traces."),
)
