"""Declaring pipelines and their targets."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Never, ParamSpec, TypeVar, Unpack

from ematix_flow._base.location import Location, caller_location
from ematix_flow._base.suggest import did_you_mean
from ematix_flow.connections.model import Connection
from ematix_flow.declare.connections import name_of
from ematix_flow.declare.handles import DeclaredPipeline
from ematix_flow.declare.incremental import check_incremental
from ematix_flow.declare.keywords import (
    PipelineKeywords,
    WriteKeywords,
    checked_pipeline,
    checked_write,
    is_write_keyword,
)
from ematix_flow.declare.project import Project, active_project
from ematix_flow.declare.tables import table_name, table_of
from ematix_flow.declare.values import declared_name
from ematix_flow.declare.write_rules import check_write
from ematix_flow.errors import DeclarationError
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.pipeline import (
    Pipeline,
    Quality,
    ReadOptions,
    TargetSpec,
    Timing,
    WriteOptions,
)
from ematix_flow.spec.schedule import Schedule
from ematix_flow.spec.table import Table, TableName

P = ParamSpec("P")
R = TypeVar("R")


def pipeline(
    *bare: Never, **keywords: Unpack[PipelineKeywords]
) -> Callable[[Callable[P, R]], DeclaredPipeline[P, R]]:
    """Declare a pipeline, as `PipelineDecorator` tells users."""
    location = caller_location()
    if bare:
        raise DeclarationError(
            "ematix.pipeline takes keywords, and the function stands under it",
            where=location,
            hint="write @ematix.pipeline(target=..., target_connection=...), with parentheses",
        )
    written = checked_pipeline(keywords, location)

    def declare(function: Callable[P, R]) -> DeclaredPipeline[P, R]:
        project = active_project()
        name = _name(written, function, location)
        overrides = project.overrides_of(name)
        where: Location | str = location
        values = written
        if overrides:
            _refuse_renaming(name, overrides, project.overridden_in)
            values = {**written, **checked_pipeline(overrides, project.overridden_in)}
            where = f"{location} with [pipelines.{name}] of {project.overridden_in}"
        spec = _pipeline(name, values, function, project, where=where, location=location)
        project.add_pipeline(spec)
        return DeclaredPipeline(spec, function, project)

    return declare


def target(
    table: type | str, connection: str | Connection, **keywords: Unpack[WriteKeywords]
) -> TargetSpec:
    """Declare one of several targets of a pipeline."""
    location = caller_location()
    try:
        name = name_of(connection)
    except ValueError as error:
        raise DeclarationError(f"a target's connection {error}", where=location) from None
    found = _table(table, active_project(), location)
    return _target(found, name, checked_write(keywords, location), location, location)


def _name(values: dict[str, Any], function: Callable[..., object], location: Location) -> str:
    if not callable(function):
        raise DeclarationError(
            f"@ematix.pipeline stands above a function, not {function!r}", where=location
        )
    if "name" in values:
        found: str = values["name"]
        return found
    try:
        # A partial has no name, as little as a <lambda> has.
        return declared_name(getattr(function, "__name__", f"<{type(function).__name__}>"))
    except ValueError as error:
        raise DeclarationError(str(error), where=location, hint='pass name="..."') from None


def _refuse_renaming(name: str, overrides: Mapping[str, object], where: str) -> None:
    # Everything else knows the pipeline by its name in Python; so does this very table.
    if overrides.get("name", name) != name:
        raise DeclarationError(
            f"[pipelines.{name}] says name = {overrides['name']!r}, but the TOML finds a pipeline "
            "by its name and cannot change it",
            where=where,
            hint="rename it in Python: @ematix.pipeline(name=...)",
        )


def _pipeline(
    name: str,
    values: dict[str, Any],
    function: Callable[..., object],
    project: Project,
    *,
    where: Location | str,
    location: Location,
) -> Pipeline:
    read = _picked(ReadOptions, values)
    if read.lookback is not None and read.incremental_column is None:
        raise DeclarationError(
            "lookback re-reads a part of an incremental load, but there is no incremental_column",
            where=where,
            hint='name the column that grows: incremental_column="updated_at"',
        )
    targets = _targets(name, values, project, where, location)
    check_incremental(read, targets, where)
    _check_freshness_column(values.get("freshness_column"), targets[0], where)
    return Pipeline(
        name=name,
        targets=targets,
        source_connection=values.get("source_connection"),
        function=function,
        location=location,
        read=read,
        timing=_timing(values, where),
        quality=Quality(
            **_renamed(values, expectations="expectations", on_quality_failure="on_failure"),
            alert_on_warn=values.get("alert_on_quality_warn", False),
        ),
        transforms_pre=values.get("transforms_pre", ()),
        transforms_post=values.get("transforms_post", ()),
        force_path=values.get("force_path"),
        engine=values.get("engine"),
        tags=values.get("tags", ()),
        description=inspect.cleandoc(function.__doc__ or "").partition("\n")[0],
    )


def _targets(
    name: str,
    values: dict[str, Any],
    project: Project,
    where: Location | str,
    location: Location,
) -> tuple[TargetSpec, ...]:
    single = {key: value for key, value in values.items() if is_write_keyword(key)}
    if "targets" in values:
        for keyword in ("target", "target_connection", *single):
            if keyword in values:
                raise DeclarationError(
                    f"pipeline {name!r} has targets=[...] and {keyword}=: each target says its own",
                    where=where,
                    hint=f"pass {keyword} to ematix.target(...)",
                )
        several: tuple[TargetSpec, ...] = values["targets"]
        places = [f"{each.connection}.{each.name}" for each in several]
        if twice := [each for each in places if places.count(each) > 1]:
            raise DeclarationError(f"targets names {twice[0]} twice", where=where)
        return several
    if "target" not in values:
        raise DeclarationError(
            "a pipeline needs a target table",
            where=where,
            hint="declare one with @ematix.table and pass the class: target=Orders",
        )
    if "target_connection" not in values:
        raise DeclarationError(
            "a pipeline needs a target_connection",
            where=where,
            hint='pass its name: target_connection="warehouse"',
        )
    table = _table(values["target"], project, where)
    return (_target(table, values["target_connection"], single, where, location),)


def _check_freshness_column(column: str | None, target: TargetSpec, where: Location | str) -> None:
    # scd2 adds columns of its own to those that are declared.
    if column is None or not isinstance(target.table, Table) or target.write.mode is Mode.SCD2:
        return
    known = target.table.column_names
    if column not in known:
        raise DeclarationError(
            f"freshness_column names {column!r}, which is no column of {target.name}"
            + did_you_mean(column, known)
            + f" (columns: {', '.join(known)})",
            where=where,
        )


def _target(
    table: Table | TableName,
    connection: str,
    values: dict[str, Any],
    where: Location | str,
    location: Location,
) -> TargetSpec:
    write = WriteOptions(**values)
    spec = TargetSpec(table=table, connection=connection, write=write, location=location)
    check_write(spec, frozenset(values), where)
    return spec


def _table(value: object, project: Project, where: Location | str) -> Table | TableName:
    if (found := table_of(value)) is not None:
        return found
    if isinstance(value, str):
        return project.tables.get(value) or table_name(value, where)
    shown = value.__name__ if isinstance(value, type) else repr(value)
    raise DeclarationError(
        f"target={shown} is not a table class",
        where=where,
        hint="declare one with @ematix.table and pass the class: target=Orders",
    )


def _timing(values: dict[str, Any], where: Location | str) -> Timing:
    schedule = None
    zone = values.get("timezone")
    if "schedule" in values:
        try:
            schedule = Schedule(cron=values["schedule"], timezone=zone or "UTC")
        except ValueError as error:
            raise DeclarationError(str(error), where=where) from None
    else:
        for keyword in ("timezone", "catch_up"):
            if keyword in values:
                raise DeclarationError(
                    f"{keyword} says how a schedule is read, but there is no schedule",
                    where=where,
                    hint="add schedule='0 2 * * *', or drop " + keyword,
                )
    timing: Timing = _picked(Timing, {**values, "schedule": schedule})
    upstreams = {name for name, _ in timing.upstream_freshness} - {"*"}
    if timing.depends_on is not None and (extra := upstreams - set(timing.depends_on)):
        unknown = min(extra)
        raise DeclarationError(
            f"upstream_freshness names {unknown!r}, which is not in depends_on"
            + did_you_mean(unknown, timing.depends_on)
            + f" (known: {', '.join(timing.depends_on)})",
            where=where,
        )
    return timing


def _picked(kind: type[Any], values: dict[str, Any]) -> Any:
    """Build *kind* from those of *values* that are its fields."""
    fields = kind.__dataclass_fields__
    return kind(**{key: each for key, each in values.items() if key in fields})


def _renamed(values: dict[str, Any], **names: str) -> dict[str, Any]:
    return {inner: values[outer] for outer, inner in names.items() if outer in values}
