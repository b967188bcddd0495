"""Every error a user can meet, in one tree.

FlowError                     the root: what happened, where, one thing to do next
├── UsageError                the command or call itself is wrong            (exit 2)
│   ├── UnknownName           a pipeline, connection, engine ... nobody declared
│   └── ConfigError           the project's TOML or environment is wrong
├── DeclarationError          a table, connection or pipeline is declared wrongly
│   └── ProjectLoadError      a project module does not import
├── PlanError                 declared well, but it cannot run like this
│   ├── DriftError            the target differs from its declaration
│   ├── NeedsConsent          it would lose values that are there             (exit 4)
│   └── NotSupported          a backend or engine lacks what was asked for
├── SourceError               a source is empty, unreadable or not what it says
│   ├── SourceMissing         it is not there (yet)
│   └── SourceUnreachable     nothing answers at its address             (retryable)
├── QueryError                the pipeline's SQL is wrong
│   └── DialectError          it has no exact equivalent where it runs
├── UserCodeError             the pipeline's own Python raised
│   └── RunsJob               it computes while it is only looked at
├── ContractError             rows break the target table's declaration
├── EngineError               Spark cannot be started, reached or used
│   ├── EngineUnreachable     nothing answers at that address            (retryable)
│   ├── EngineAuthError       the server refuses our token
│   ├── JavaNotFound          no usable Java
│   └── JarError              a connector jar is missing, corrupt or not to be had
├── TargetError               the target refuses the load
│   ├── TargetUnreachable     nothing answers at its address             (retryable)
│   ├── StagingLost           staged rows are gone before the commit      (retryable)
│   └── FenceLost             another run took this pipeline over
├── DatabaseBusy              another session holds what is needed of it     (retryable)
├── PipelineBusy              this pipeline is already running               (retryable)
├── PresumedFailed            a run ended without a word: its process died   (retryable)
└── UnexpectedError           what nobody foresaw: a bug, or a broken environment

A message says what happened with the offending value, what was allowed, and
ends in one action (`Hint:`). Secrets are removed when the message is built, so
no later printer, logger or record can leak one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import ClassVar

from ematix_flow._base.location import Location, caller_location
from ematix_flow._base.redact import redact
from ematix_flow._base.suggest import nearest

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_CHECKS = 3
EXIT_CONSENT = 4
EXIT_INTERRUPTED = 130
# 128 + SIGPIPE, as a shell tells of a program whose reader left.
EXIT_UNREAD = 141


class FlowError(Exception):
    """What happened, where, and one thing to do next."""

    exit_code: ClassVar[int] = EXIT_FAILED
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        what: str,
        *,
        where: Location | str | None = None,
        hint: str | None = None,
        details: str | None = None,
    ) -> None:
        """
        :param what: What happened, with the offending value and the allowed ones.
        :param where: File and line, connection, column or row it concerns.
        :param hint: One action that helps.
        :param details: Long evidence (a user's traceback) printed under the message.
        """
        self.what = redact(what)
        self.where = redact(str(where)) if where is not None else None
        self.hint = redact(hint) if hint is not None else None
        self.details = redact(details) if details is not None else None
        super().__init__(self.what)

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.details:
            lines.append(self.details)
        if self.hint:
            lines.append(f"Hint: {self.hint}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, object]:
        """Return the facts as they stand in run records and `--format json`."""
        return {
            "type": type(self).__name__,
            "what": self.what,
            "where": self.where,
            "hint": self.hint,
            "details": self.details,
            "retryable": self.retryable,
        }


class UsageError(FlowError):
    """The command or call itself is wrong."""

    exit_code = EXIT_USAGE


class UnknownName(UsageError, KeyError):
    """A name that nobody declared."""

    # KeyError prints its repr; ours prints like every other FlowError.
    __str__ = FlowError.__str__

    @classmethod
    def among(
        cls,
        what: str,
        name: str,
        known: Iterable[str],
        *,
        where: Location | str | None = None,
        hint: str | None = None,
    ) -> UnknownName:
        """Build the error for *name*, listing what is known and the nearest to it."""
        options = sorted(known)
        guess = nearest(name, options)
        listed = ", ".join(options) if options else "none are declared"
        text = f"unknown {what} {name!r} (known: {listed})"
        if guess:
            text = f"unknown {what} {name!r}; did you mean {guess!r}? (known: {listed})"
        return cls(text, where=where, hint=hint)


class ConfigError(UsageError):
    """The project's TOML or environment is wrong."""


class DeclarationError(FlowError):
    """A table, connection or pipeline is declared wrongly."""

    exit_code = EXIT_USAGE


class ProjectLoadError(DeclarationError):
    """A project module does not import."""


class PlanError(FlowError):
    """Declared well, but it cannot run like this."""


class DriftError(PlanError):
    """The target differs from its declaration."""


class NeedsConsent(PlanError):
    """It would lose values that are there, and nobody agreed to that."""

    exit_code = EXIT_CONSENT


class NotSupported(PlanError):
    """A backend or engine lacks what was asked for."""


class SourceError(FlowError):
    """A source is empty, unreadable or not what it says."""


class SourceMissing(SourceError):
    """A source is not there (yet)."""


class SourceUnreachable(SourceError):
    """Nothing answers at the source's address."""

    retryable = True


class QueryError(FlowError):
    """The pipeline's SQL is wrong."""


class DialectError(QueryError):
    """A part of the query has no exact equivalent where it will run."""

    @classmethod
    def about(
        cls, fragment: str, why: str, rewrite: str, *, write: str, where: Location | str
    ) -> DialectError:
        """Show the fragment, why it has no equivalent, and what to write instead."""
        return cls(
            f"`{fragment}` cannot be translated to {write}: {why}", where=where, hint=rewrite
        )


class UserCodeError(FlowError):
    """The pipeline's own Python raised."""


class RunsJob(UserCodeError):
    """The function works while it is only looked at, so what it returns is not known."""


class ContractError(FlowError):
    """Rows break the target table's declaration."""


class EngineError(FlowError):
    """Spark cannot be started, reached or used."""


class EngineUnreachable(EngineError):
    """Nothing answers at the engine's address."""

    retryable = True


class EngineAuthError(EngineError):
    """The server refuses our token."""


class JavaNotFound(EngineError):
    """No usable Java."""


class JarError(EngineError):
    """A connector jar is missing, corrupt or not to be had."""


class TargetError(FlowError):
    """The target refuses the load."""


class TargetUnreachable(TargetError):
    """Nothing answers at the target's address."""

    retryable = True


class StagingLost(TargetError):
    """Rows that were staged are gone before the commit; nothing of them has landed."""

    retryable = True


class FenceLost(TargetError):
    """Another run took this pipeline over."""


class DatabaseBusy(FlowError):
    """Another process or session holds what is needed of a source or target."""

    retryable = True


class PipelineBusy(FlowError):
    """This pipeline is already running."""

    retryable = True


class PresumedFailed(FlowError):
    """A run ended without a word: its process died, and its rows have not landed."""

    retryable = True


class UnexpectedError(FlowError):
    """What nobody foresaw: a bug of ours, or a broken environment."""

    @classmethod
    def of(cls, error: Exception) -> UnexpectedError:
        """Say in one line what *error* is; it stays the cause, for whoever asks for the stack."""
        first_line = str(error).strip().partition("\n")[0]
        unexpected = cls(
            f"unexpected {type(error).__name__}{': ' if first_line else ''}{first_line}; "
            "this is a bug in ematix-flow or an environment problem; run with -v for the stack"
        )
        unexpected.__cause__ = error
        return unexpected


@contextmanager
def located(where: Location | str) -> Iterator[None]:
    """Give errors of the block that know no place of their own the place *where*."""
    try:
        yield
    except FlowError as error:
        if error.where is None:
            error.where = redact(str(where))
        raise


def refused(what: str, hint: str | None = None) -> DeclarationError:
    """Build the error for a value that the user's own line passes to one of our names."""
    return DeclarationError(what, where=caller_location(), hint=hint)
