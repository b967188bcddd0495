"""Calling the user's function, inside an error boundary."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path

from ematix_flow._base.location import Location
from ematix_flow.errors import DeclarationError, FlowError, UserCodeError
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.transform import Transform

_PACKAGE = Path(__file__).resolve().parent.parent


def call_function(pipeline: Pipeline, arguments: Mapping[str, object]) -> object:
    """Call the pipeline's function; what it raises is told with its own line."""
    with _boundary(f"the function of pipeline {pipeline.name!r}", pipeline.location):
        return _result(_called(pipeline.function, arguments))


def call_user(function: Callable[..., object], pipeline: Pipeline, *arguments: object) -> object:
    """Call another function of the user's for *pipeline*, inside the same boundary."""
    name = getattr(function, "__name__", "a function")
    with _boundary(f"{name} of pipeline {pipeline.name!r}", pipeline.location):
        return _result(function(*arguments))


def call_transform(transform: Transform) -> str:
    """Call the function of a stand-alone transform and return its SQL."""
    with _boundary(f"transform {transform.name!r}", transform.location):
        returned = _result(transform.function())
    if not isinstance(returned, str) or not returned.strip():
        raise DeclarationError(
            f"transform {transform.name!r} returned {type(returned).__name__}, not SQL",
            where=transform.location,
            hint="return the SQL to run",
        )
    return returned


@contextmanager
def _boundary(what: str, location: Location) -> Iterator[None]:
    try:
        yield
    except FlowError:
        raise
    except (Exception, SystemExit) as error:  # an exit() would end us without a word
        raise _told(what, location, error) from error


def _result(found: object) -> object:
    return _awaited(found) if inspect.iscoroutine(found) else found


def _called(function: Callable[..., object], arguments: Mapping[str, object]) -> object:
    parameters = inspect.signature(function).parameters.values()
    nameless = {each.name for each in parameters if each.kind is each.POSITIONAL_ONLY}
    by_place = [value for name, value in arguments.items() if name in nameless]
    by_name = {name: value for name, value in arguments.items() if name not in nameless}
    return function(*by_place, **by_name)


def _awaited(coroutine: Coroutine[object, object, object]) -> object:
    """Run it to its end, also where a loop is running already: in a notebook, in a server."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(copy_context().run, asyncio.run, coroutine).result()


def _told(what: str, location: Location, error: BaseException) -> UserCodeError:
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        # Nor Python's own: exit() lives in a frozen module.
        if not (
            Path(frame.filename).is_relative_to(_PACKAGE) or frame.filename.startswith("<frozen")
        )
    ]
    # The user's own line, though a library that it calls may have raised.
    own = [frame for frame in frames if frame.filename == location.file] or frames
    where = Location(own[-1].filename, own[-1].lineno or 0) if own else location
    shown = traceback.format_list(frames) + traceback.format_exception_only(error)
    return UserCodeError(
        f"{what} raised {type(error).__name__}: {error}",
        where=where,
        details="".join(shown).rstrip(),
        hint="mend that line, or catch what it raises",
    )
