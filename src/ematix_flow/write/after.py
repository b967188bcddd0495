"""What a user has done on the target after a commit, each in a transaction of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ematix_flow.errors import DeclarationError
from ematix_flow.plan.steps import CallAfter
from ematix_flow.ports import Target
from ematix_flow.resolve.call import call_user
from ematix_flow.sqltext.split import statements_in

_PARAMETERS = ("tgt", "spark")


@dataclass(frozen=True, slots=True, kw_only=True)
class RanAfter:
    """What was run: how many statements, and how many rows they changed."""

    statements: int
    rows: int


def run_after(target: Target, statements: Sequence[str]) -> RanAfter:
    """Run the statements in one transaction."""
    with target.open() as session, session.transaction():
        # A database counts no rows of what changes none.
        rows = sum(max(session.execute(each), 0) for each in statements)
    return RanAfter(statements=len(statements), rows=rows)


def call_after(step: CallAfter, target: Target, spark: Callable[[], object]) -> None:
    """Call the function with what it asks for by name, and run the SQL that it returns.

    :param spark: Gives the session: a function that asks for none needs no engine.
    """
    known = {"tgt": lambda: str(step.pipeline.target.name), "spark": spark}
    names = list(inspect.signature(step.function).parameters)
    for name in names:
        if name not in known:
            raise DeclarationError(
                f"a function in transforms_post of {step.pipeline.name!r} takes {name!r}; it can "
                f"take {' and '.join(_PARAMETERS)}",
                where=step.pipeline.location,
            )
    returned = call_user(step.function, step.pipeline, *(known[name]() for name in names))
    if isinstance(returned, str):
        run_after(target, statements_in(returned, step.dialect))
