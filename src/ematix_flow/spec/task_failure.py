"""An error of ours, on its way from a Spark task to the driver.

All that arrives is the text of an exception, with stacks around it; so the facts travel in it
as one line of JSON behind a mark.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from ematix_flow import errors
from ematix_flow.errors import EngineError, FlowError

_MARK = "EMATIX_TASK_FAILURE "
_NO_MODULE = "ModuleNotFoundError: No module named "
# What tasks of ours import on the engine's machines.
_NEEDED = {
    "ematix_flow": "ematix-flow",
    "adbc_driver_postgresql": "ematix-flow[postgres]",
    "pymysql": "ematix-flow[mysql]",
}


class TaskFailure(RuntimeError):
    """What a task raises: its message is the mark and the facts."""


@contextmanager
def told_to_the_driver() -> Iterator[None]:
    """Raise errors of ours in a form that survives the way to the driver."""
    try:
        yield
    except FlowError as error:
        # No cause: the driver of a database may quote what must not be in an engine's log.
        raise TaskFailure(_MARK + json.dumps(error.to_json())) from None


def read_task_failure(text: str) -> FlowError | None:
    """Return the error packed into the text of Spark's exception, or None if there is none."""
    _, mark, rest = text.partition(_MARK)
    if not mark:
        return _missing_package(text)
    try:
        facts, _ = json.JSONDecoder().raw_decode(rest)
    except json.JSONDecodeError:  # cut off on the way
        return None
    kind = getattr(errors, str(facts["type"]), None)
    if not isinstance(kind, type) or not issubclass(kind, FlowError):
        kind = FlowError
    return kind(facts["what"], where=facts["where"], hint=facts["hint"], details=facts["details"])


def _missing_package(text: str) -> EngineError | None:
    _, mark, rest = text.partition(_NO_MODULE)
    module = rest[1:].partition("'")[0].partition(".")[0] if mark else ""
    if module not in _NEEDED:
        return None
    return EngineError(
        f"the engine's workers lack the Python module {module!r}, which they need to reach "
        "the database",
        hint=f"pip install '{_NEEDED[module]}' on the engine's machines",
    )
