"""The `flow` command. Each subcommand is imported only when it is called."""

from __future__ import annotations

import sys
from importlib import import_module
from itertools import pairwise

import click

from ematix_flow._base.suggest import nearest
from ematix_flow._version import __version__
from ematix_flow.cli.options import current_output
from ematix_flow.cli.output import Output
from ematix_flow.cli.streams import lenient
from ematix_flow.errors import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_UNREAD,
    EXIT_USAGE,
    FlowError,
    UnexpectedError,
    UsageError,
)

# name -> (module, attribute, one line of help). The help stands here so that
# `flow --help` imports none of them.
_COMMANDS = {
    "init": ("ematix_flow.cli.init", "init", "Start a project that runs at once."),
    "demo": ("ematix_flow.cli.demo", "demo", "Run a small shop from end to end."),
    "list": ("ematix_flow.cli.list", "list_pipelines", "Show the project's pipelines."),
    "plan": ("ematix_flow.cli.plan", "plan", "Show what a run would do; changes nothing."),
    "explain": ("ematix_flow.cli.explain", "explain", "Show a plan's SQL, engine and settings."),
    "validate": (
        "ematix_flow.cli.validate",
        "validate",
        "Check plans and queries against their sources; reads no row.",
    ),
    "preview": ("ematix_flow.cli.preview", "preview", "Show the first rows; writes nothing."),
    "dry-run": ("ematix_flow.cli.dry_run", "dry_run", "Count what a run would change."),
    "run": ("ematix_flow.cli.run", "run", "Run pipelines."),
    "backfill": ("ematix_flow.cli.backfill", "backfill", "Load a part of the past again."),
    "replay": ("ematix_flow.cli.replay", "replay", "Load what a run had loaded again."),
    "runs": ("ematix_flow.cli.runs", "runs", "Show what was run."),
    "transform": ("ematix_flow.cli.transform", "transform", "See and run stand-alone transforms."),
    "doctor": ("ematix_flow.cli.doctor", "doctor", "Check this machine and project."),
    "connections": (
        "ematix_flow.cli.connections",
        "connections",
        "See, check and write connections.",
    ),
    "secrets": ("ematix_flow.cli.secrets", "secrets", "Test the references to secrets."),
    "engine": ("ematix_flow.cli.engine", "engine", "Keep a warm local Spark."),
    "jars": ("ematix_flow.cli.jars", "jars", "Fetch and verify Spark's connectors."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and loads one when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order a newcomer meets them."""
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module, attribute, _ = _COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one was probably meant."""
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            guess = nearest(args[0], _COMMANDS)
            meant = f" Did you mean {guess!r}?" if guess else ""
            raise click.UsageError(f"No such command {args[0]!r}.{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in _COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with:  flow init shop && cd shop && flow run --all",
)
@click.version_option(__version__, prog_name="flow")
def flow() -> None:
    """Declarative data pipelines in Python, on Spark."""


def main() -> None:
    """Run the command line; every error becomes a message and an exit code."""
    with lenient("stderr"):
        with lenient("stdout") as answer:
            code = _run()
        sys.exit(code or _unread(answer.failure))


def _run() -> int:
    try:
        code = flow.main(prog_name="flow", standalone_mode=False)
    except click.ClickException as error:
        _misused(error)
        return EXIT_USAGE
    except (click.Abort, KeyboardInterrupt):
        sys.stderr.write("Interrupted.\n")
        return EXIT_INTERRUPTED
    except FlowError as error:
        current_output().error(error)
        return error.exit_code
    except Exception as error:  # noqa: BLE001  # the last boundary: no stack unless asked for
        current_output().error(UnexpectedError.of(error))
        return EXIT_FAILED
    return code if isinstance(code, int) else 0


def _misused(error: click.ClickException) -> None:
    """Tell what click refuses as it does; a program is told as of every other error."""
    # By the words themselves: of a command that cannot be read, click knows no option.
    if "--format=json" not in sys.argv and ("--format", "json") not in pairwise(sys.argv):
        error.show()
        return
    context = getattr(error, "ctx", None)
    hint = f"{context.command_path} --help" if context else None
    Output(format="json").error(UsageError(error.format_message(), hint=hint))


def _unread(failure: OSError | None) -> int:
    """Return the exit code of a command that did its work, whether or not its answer was read."""
    match failure:
        case None:
            return 0
        case BrokenPipeError():
            return EXIT_UNREAD  # the reader (`| head`) has seen enough
        case _:
            why = failure.strerror or str(failure)
            current_output().error(FlowError(f"the answer cannot be written: {why}"))
            return EXIT_FAILED
