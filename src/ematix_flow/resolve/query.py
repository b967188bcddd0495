"""The pipeline's function becomes its query."""

from __future__ import annotations

import inspect
import re
import traceback
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from ematix_flow._base.location import Location
from ematix_flow.errors import DeclarationError, UserCodeError
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.dialect import parse_query
from ematix_flow.sqltext.references import table_references

_PART = r"""(?:"(?:[^"]|"")+"|`(?:[^`]|``)+`|[^."`]+)"""
_NAME_PART = re.compile(_PART)
_TABLE_NAME = re.compile(rf"{_PART}(?:\.{_PART})*")
# What sqlglot calls them, from the last part to the first.
_TABLE_PARTS = ("this", "db", "catalog")


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
        whole = exp.select("*").from_(_named_table(pipeline.source_table, pipeline.location))
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


def _named_table(name: str, where: Location) -> exp.Table:
    """Read `orders`, `shop.orders` or `"odd.name"`: a name, so a reserved word is one too."""
    found = _TABLE_NAME.fullmatch(name)
    parts = [_unquoted(part) for part in _NAME_PART.findall(name)] if found else []
    if not 1 <= len(parts) <= len(_TABLE_PARTS):
        raise DeclarationError(
            f"source_table={name!r} is no table's name",
            where=where,
            hint='write table, schema.table or catalog.schema.table; quote what has a dot: "a.b"',
        )
    identifiers = (exp.to_identifier(part, quoted=True) for part in reversed(parts))
    return exp.Table(**dict(zip(_TABLE_PARTS, identifiers, strict=False)))


def _unquoted(part: str) -> str:
    quote = part[0]
    return part[1:-1].replace(quote * 2, quote) if quote in '"`' else part


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
