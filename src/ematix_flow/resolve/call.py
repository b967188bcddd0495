"""Calling the user's function, inside an error boundary."""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Mapping
from pathlib import Path

from ematix_flow._base.location import Location
from ematix_flow.errors import FlowError, UserCodeError
from ematix_flow.spec.pipeline import Pipeline

_PACKAGE = Path(__file__).resolve().parent.parent


def call_function(pipeline: Pipeline, arguments: Mapping[str, object]) -> object:
    """Call the pipeline's function; what it raises is told with its own line."""
    try:
        found = pipeline.function(**arguments)
        if inspect.iscoroutine(found):
            return asyncio.run(found)
    except FlowError:
        raise
    except Exception as error:
        raise _told(pipeline, error) from error
    return found


def _told(pipeline: Pipeline, error: Exception) -> UserCodeError:
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not Path(frame.filename).is_relative_to(_PACKAGE)
    ]
    where = Location(frames[-1].filename, frames[-1].lineno or 0) if frames else pipeline.location
    shown = traceback.format_list(frames) + traceback.format_exception_only(error)
    return UserCodeError(
        f"the function of pipeline {pipeline.name!r} raised {type(error).__name__}: {error}",
        where=where,
        details="".join(shown).rstrip(),
    )
