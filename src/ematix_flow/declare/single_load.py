"""One load without a declaration: `pipeline.sync(...)` and `Connection.write_df(...)`.

It is declared into a project of its own, beside what the user has declared, and run like any
other: the same plan, contract, commit and record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ematix_flow._base.location import Location, caller_location
from ematix_flow.connections.model import Connection
from ematix_flow.declare.arrow_frames import arrow_table, library_of
from ematix_flow.declare.connections import name_of
from ematix_flow.declare.frame_table import frame_table
from ematix_flow.declare.pipelines import pipeline
from ematix_flow.declare.project import Project, active_project, declaring_into
from ematix_flow.declare.runner import Runner, runner_of
from ematix_flow.declare.tables import table_name, table_of
from ematix_flow.errors import DeclarationError, UsageError
from ematix_flow.spec.source import Source

if TYPE_CHECKING:
    from ematix_flow.record.run import RunResult

_LONGEST_NAME = 100
_NOT_IN_NAMES = re.compile(r"[^\w.\-]")


def load(
    source: object,
    keywords: Mapping[str, Any],
    *,
    called: str,
    new: bool,
    session: object | None = None,
) -> RunResult:
    """Run one load and return its record.

    :param source: SQL, a Source or a frame; None where `source_table` says what to read.
    :param called: What the user called: the head of the run's name where none is given.
    :param new: Never take up a run of the name that died.
    :param session: A Spark session of the user's to run on; a Spark frame brings its own.
    """
    location = caller_location()
    library = _checked_source(source, keywords, called, location)
    project = _beside(active_project())
    given = dict(keywords)
    if library not in (None, "pyspark"):
        source = arrow_table(source)
    given.setdefault("name", _name(source, given, called, location))
    if library == "pyspark":
        session = source.sparkSession  # type: ignore[attr-defined]  # no import of pyspark here
    with declaring_into(project):
        if library is not None:
            _know_table(source, given, project, location)
        name = pipeline(**given)(lambda: source).name
    return _runner(project, given.get("target_connection"), session).run(name, new=new)


def _checked_source(
    source: object, keywords: Mapping[str, Any], called: str, location: Location
) -> str | None:
    """Return the library of a frame; None for what is read from a connection."""
    if (library := library_of(source)) is not None:
        if keywords.get("source_connection") is not None:
            raise DeclarationError(
                f"{called}: a frame holds its rows, so there is nothing to read from "
                f"source_connection={keywords['source_connection']!r}",
                where=location,
            )
        return library
    whole = source is None and keywords.get("source_table") is not None
    if not whole and not isinstance(source, str | Source):
        raise DeclarationError(
            f"{called}: source takes SQL, a Source, or a Spark, pandas, polars or pyarrow frame, "
            f"not {type(source).__name__}",
            where=location,
            hint="or set source_table= to read a table whole",
        )
    return None


def _beside(project: Project) -> Project:
    """Return a project that knows what *project* does, and has no pipelines yet."""
    return Project(
        connections=dict(project.connections),
        tables=dict(project.tables),
        transforms=dict(project.transforms),
        udfs=dict(project.udfs),
        overrides=project.overrides,
        overridden_in=project.overridden_in,
    )


def _name(source: object, keywords: Mapping[str, Any], called: str, location: Location) -> str:
    """Name the run after its target, and after its source where that makes a difference.

    Two loads of one name are one pipeline: the second takes up what the first left half done.
    """
    if keywords.get("incremental_column") is not None:
        raise DeclarationError(
            f"{called}: an incremental load goes on where the last one of its name ended",
            where=location,
            hint='give it a name: name="..."',
        )
    target = keywords.get("target")
    declared = table_of(target)
    into = f"{_label(keywords.get('target_connection'))}.{declared.name if declared else target}"
    name = _NOT_IN_NAMES.sub("_", f"{called}.{into}")
    if called == "write_df" and len(name) <= _LONGEST_NAME:
        return name
    reads = source if isinstance(source, str | Source) else keywords.get("source_table") or location
    facts = (into, reads, _label(keywords.get("source_connection")), keywords.get("mode"))
    digest = sha256(repr(facts).encode()).hexdigest()[:12]
    return f"{name[: _LONGEST_NAME - len(digest) - 1]}-{digest}"


def _label(connection: object) -> str:
    return str(getattr(connection, "name", connection))


def _know_table(
    frame: object, keywords: Mapping[str, Any], project: Project, location: Location
) -> None:
    """Declare a target that is only a name: a frame tells its columns before anything runs."""
    target, connection = keywords.get("target"), keywords.get("target_connection")
    if not isinstance(target, str) or target in project.tables or connection is None:
        return
    name = table_name(target, location)
    into = name_of(connection)
    runner = _runner(project, connection, None)
    table = frame_table(
        frame,
        name,
        actual=runner.columns(into, name),
        dialect=runner.dialect(into),
        keys=_listed(keywords.get("keys")),
        location=location,
    )
    project.tables[target] = table


def _listed(keys: Any) -> tuple[str, ...]:
    return (keys,) if isinstance(keys, str) else tuple(keys or ())


def _runner(project: Project, connection: object, session: object | None) -> Runner:
    # A connection out of a loaded project brings its folder along.
    folder = connection.base if isinstance(connection, Connection) else Path()
    return runner_of(project, session=session, directory=folder)


def read(connection: Connection, query: str, kind: str | None, session: object | None) -> Any:
    """Return the rows of *query* in *connection* as a frame."""
    given: object = query
    if not isinstance(given, str) or not given.strip():
        raise UsageError(f"read_df takes SQL, not {query!r}", where=caller_location())
    project = _beside(active_project())
    with declaring_into(project):
        name = name_of(connection)
    return _runner(project, connection, session).read_frame(name, query, kind)
