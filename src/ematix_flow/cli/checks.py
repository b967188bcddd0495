"""Checks of a machine, a project or a connection, told in lines and in an exit code."""

from __future__ import annotations

from collections.abc import Sequence

from ematix_flow.errors import EXIT_CHECKS
from ematix_flow.observe.check import Check, Health

_SIGN = {Health.OK: "ok", Health.NOTE: "--", Health.PROBLEM: "!!"}


def check_lines(checks: Sequence[Check]) -> str:
    """Return a line for each check, and under it what helps."""
    width = max((len(check.name) for check in checks), default=0)
    return "\n".join(_line(check, width) for check in checks)


def exit_code(checks: Sequence[Check]) -> int:
    """Return 0, or what says that a check found a problem."""
    return EXIT_CHECKS if any(check.health is Health.PROBLEM for check in checks) else 0


def _line(check: Check, width: int) -> str:
    line = f"{_SIGN[check.health]}  {check.name:<{width}}  {check.finding}"
    return f"{line}\n    {'':<{width}}  Hint: {check.hint}" if check.hint else line
