"""The pipeline's function becomes its query."""

from __future__ import annotations

import inspect
import traceback
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from ematix_flow._base.location import Location
from ematix_flow.errors import DeclarationError, UserCodeError
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.table import TableName
from ematix_flow.sql.dialect import parse_query
from ematix_flow.sql.references import table_references


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHandle:
    """What a function's `src` parameter is: the name of the source, to be read by the engine."""

    connection: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedQuery:
    """The pipeline's query: its text as written, and the tables it reads."""

    text: str
    dialect: str
    tables: tuple[TableName, ...]


def resolve_query(pipeline: Pipeline, *, dialect: str, source: SourceHandle) -> ResolvedQuery:
    """Call the function (inside an error boundary) and read the SQL it returns."""
    if pipeline.source_table is not None:
        whole = exp.select("*").from_(exp.to_table(pipeline.source_table, dialect=dialect))
        text: object = whole.sql(dialect=dialect)
    else:
        text = _call(pipeline, source)
    if not isinstance(text, str):
        raise DeclarationError(
            f"pipeline {pipeline.name!r} returned {type(text).__name__}; it returns SQL text",
            where=pipeline.location,
            hint="return the SELECT, or set source_table= to read a table whole",
        )
    query = parse_query(text, dialect=dialect, where=pipeline.location)
    return ResolvedQuery(
        text=text.strip().rstrip(";"), dialect=dialect, tables=table_references(query)
    )


def _call(pipeline: Pipeline, source: SourceHandle) -> object:
    parameters = list(inspect.signature(pipeline.function).parameters)
    if parameters not in ([], ["src"]):
        raise DeclarationError(
            f"pipeline {pipeline.name!r} takes ({', '.join(parameters)}); "
            "its function takes nothing, or `src`",
            where=pipeline.location,
        )
    try:
        return pipeline.function(*([source] if parameters else []))
    except Exception as error:
        raise _user_error(pipeline, error) from error


def _user_error(pipeline: Pipeline, error: Exception) -> UserCodeError:
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(str(Path(__file__).parent))
    ]
    where = Location(frames[-1].filename, frames[-1].lineno or 0) if frames else pipeline.location
    shown = traceback.format_list(frames) + traceback.format_exception_only(error)
    return UserCodeError(
        f"the function of pipeline {pipeline.name!r} raised {type(error).__name__}: {error}",
        where=where,
        details="".join(shown).rstrip(),
    )
