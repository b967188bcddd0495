"""An error of a user's function, on its way from a Python worker to the user.

All that arrives is the text of an exception, with stacks around it; so the facts travel in it
as one line of JSON behind a mark.
"""

from __future__ import annotations

import json
import traceback
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ematix_flow.errors import UserCodeError

MARK = "EMATIX_UDF_FAILURE "


class UdfFailure(RuntimeError):
    """What a worker raises: its message is the mark and the facts."""


def failed(
    what: str, *, file: str, line: int, hint: str | None = None, details: str | None = None
) -> UdfFailure:
    """Pack the facts; JSON keeps them on one line and in ASCII."""
    facts = {"what": what, "file": file, "line": line, "hint": hint, "details": details}
    return UdfFailure(MARK + json.dumps(facts))


def raised(what: str, error: BaseException, *, file: str, line: int) -> UdfFailure:
    """Pack an exception of the user's code: the deepest line of their file, and their frames.

    :param file: The file that declares the function; its line is told if no frame is in it.
    """
    # The first frame is ours, where the exception was caught.
    below = _after_ours(error.__traceback__)
    frames = traceback.extract_tb(below)
    theirs = [frame for frame in frames if frame.filename == file]
    lines = traceback.format_list(frames) + traceback.format_exception_only(error)
    return failed(
        f"{what} {type(error).__name__}: {error}",
        file=file,
        line=(theirs[-1].lineno or line) if theirs else line,
        details="".join(lines).rstrip(),
    )


def _after_ours(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith(
        "ematix_flow.transform."
    ):
        trace = trace.tb_next
    return trace


def read_failure(text: str) -> UserCodeError | None:
    """Return the error packed into the text of Spark's exception, or None if there is none."""
    from ematix_flow._base.location import Location
    from ematix_flow.errors import UserCodeError

    _, mark, rest = text.partition(MARK)
    if not mark:
        return None
    try:
        facts, _ = json.JSONDecoder().raw_decode(rest)
    except json.JSONDecodeError:  # cut off on the way
        return None
    return UserCodeError(
        facts["what"],
        where=Location(facts["file"], facts["line"]),
        hint=facts["hint"],
        details=facts["details"],
    )
