"""Calling the user's function, inside an error boundary."""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

from ematix_flow._base.location import Location
from ematix_flow.errors import FlowError, UserCodeError
from ematix_flow.spec.pipeline import Pipeline

_PACKAGE = Path(__file__).resolve().parent.parent


def call_function(pipeline: Pipeline, arguments: Mapping[str, object]) -> object:
    """Call the pipeline's function; what it raises is told with its own line."""
    try:
        found = _called(pipeline.function, arguments)
        if inspect.iscoroutine(found):
            return _awaited(found)
    except FlowError:
        raise
    except (Exception, SystemExit) as error:  # an exit() would end us without a word
        raise _told(pipeline, error) from error
    return found


def _called(function: Callable[..., object], arguments: Mapping[str, object]) -> object:
    parameters = inspect.signature(function).parameters.values()
    nameless = {each.name for each in parameters if each.kind is each.POSITIONAL_ONLY}
    by_place = [value for name, value in arguments.items() if name in nameless]
    by_name = {name: value for name, value in arguments.items() if name not in nameless}
    return function(*by_place, **by_name)


def _awaited(coroutine: Coroutine[object, object, object]) -> object:
    """Run it to its end, also where a loop is running already: in a notebook, in a server."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(copy_context().run, asyncio.run, coroutine).result()


def _told(pipeline: Pipeline, error: BaseException) -> UserCodeError:
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        # Nor Python's own: exit() lives in a frozen module.
        if not (
            Path(frame.filename).is_relative_to(_PACKAGE) or frame.filename.startswith("<frozen")
        )
    ]
    # The user's own line, though a library that it calls may have raised.
    own = [frame for frame in frames if frame.filename == pipeline.location.file] or frames
    where = Location(own[-1].filename, own[-1].lineno or 0) if own else pipeline.location
    shown = traceback.format_list(frames) + traceback.format_exception_only(error)
    return UserCodeError(
        f"the function of pipeline {pipeline.name!r} raised {type(error).__name__}: {error}",
        where=where,
        details="".join(shown).rstrip(),
    )
