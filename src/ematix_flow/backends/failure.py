"""What becomes of a database's error, whichever database it is."""

from __future__ import annotations

from importlib.util import find_spec

from ematix_flow.errors import (
    EngineError,
    SourceError,
    SourceMissing,
    SourceUnreachable,
    TargetError,
    TargetUnreachable,
)
from ematix_flow.spec.capability import Capabilities

# What is wrong with a database is the source's fault or the target's, as it is used.
Failure = type[SourceError] | type[TargetError]


def missing(failure: Failure) -> Failure:
    """Return the kind of error for a database that is not there (yet)."""
    return SourceMissing if issubclass(failure, SourceError) else failure


def unreachable(failure: Failure) -> Failure:
    """Return the kind of error for a server that does not answer, or no longer."""
    return SourceUnreachable if issubclass(failure, SourceError) else TargetUnreachable


def refused_row(database: str, what: str, where: str) -> TargetError:
    """Return the error for a row that a key or another rule of the target keeps out."""
    return TargetError(
        f"{database} refuses a row that is already there or breaks a constraint: {what}",
        where=where,
        hint="append adds rows: filter what was loaded before, or use mode merge; and rows that "
        "exchange the values of a unique column cannot do so in one load",
    )


def missing_driver(kind: str, package: str) -> EngineError:
    """Return the error for a driver that is not installed, naming the extra that brings it."""
    return EngineError(
        f"{kind} needs the package {package!r}, which is not installed",
        hint=f"pip install 'ematix-flow[{kind}]'",
    )


def missing_drivers(can: Capabilities, *more: str) -> EngineError | None:
    """Return the error for what a backend needs and this Python lacks; nothing is imported.

    :param more: What this use of it needs besides.
    """
    missing = [module for module in (*can.drivers, *more) if find_spec(module) is None]
    return missing_driver(can.extra, missing[0]) if missing else None
