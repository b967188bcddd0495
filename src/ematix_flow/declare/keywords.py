"""The keywords of pipelines and targets: their types for editors, their checks at run time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal, TypedDict

from ematix_flow._base.location import Location
from ematix_flow._base.suggest import did_you_mean
from ematix_flow.connections.model import Connection
from ematix_flow.declare import values
from ematix_flow.declare.connections import name_of
from ematix_flow.errors import DeclarationError
from ematix_flow.spec.duration import parse_duration
from ematix_flow.spec.modes import (
    CatchUp,
    HandleDeletes,
    Mode,
    OnDrift,
    OnDuplicateKeys,
    OnQualityFailure,
    Path,
)
from ematix_flow.spec.pipeline import TargetSpec
from ematix_flow.spec.retry import Retry
from ematix_flow.spec.transform import TransformStep

Names = str | Sequence[str]
Duration = str | timedelta
Step = str | Callable[..., object] | TransformStep


class WriteKeywords(TypedDict, total=False):
    """How a target is written; the same for a pipeline and for each of several targets."""

    mode: Literal["append", "truncate", "merge", "scd1", "scd2"]
    keys: Names
    column_map: Mapping[str, str]
    update_columns: Names
    compare_columns: Names
    event_timestamp_column: str
    sequence_by: Names
    apply_as_deletes: str
    ignore_null_updates: bool
    history_columns: Mapping[str, str]
    handle_deletes: Literal["ignore", "hard", "soft"]
    on_duplicate_keys: Literal["error", "last", "quarantine"]
    ttl: Duration
    max_delete_fraction: float
    on_drift: Literal["error", "warn", "evolve", "discard_value", "discard_row"]
    strict_schema: bool
    partition_by: Names


class PipelineKeywords(WriteKeywords, total=False):
    """Everything `ematix.pipeline` takes."""

    target: type | str
    targets: Sequence[TargetSpec]
    name: str
    schedule: str
    timezone: str
    source_connection: str | Connection
    target_connection: str | Connection
    source_table: str
    incremental_column: str
    lookback: Duration | int
    transforms_pre: Step | Sequence[Step]
    transforms_post: Step | Sequence[Step]
    expectations: Mapping[str, str] | Sequence[str]
    on_quality_failure: Literal["warn", "drop", "quarantine", "fail"]
    freshness_sla: Duration
    freshness_column: str
    depends_on: Names | Sequence[Any]
    upstream_freshness: Duration | Mapping[str, Duration]
    retry: Retry | int
    catch_up: Literal["none", "last", "all"]
    lease_ttl: Duration
    force_path: Literal["in_database", "direct", "spark"]
    continue_on_failure: bool
    continue_on_failure_post: bool
    alert_on_quality_warn: bool
    idempotent: bool
    engine: str
    dialect: str
    tags: Names


Checker = Callable[[Any], Any]


def _targets(value: object) -> tuple[TargetSpec, ...]:
    listed = value if isinstance(value, list | tuple) else [value]
    if not listed or not all(isinstance(each, TargetSpec) for each in listed):
        raise ValueError(f"takes a list of ematix.target(...), not {value!r}")
    return tuple(listed)


def _anything(value: object) -> object:
    return value


_WRITE_CHECKS: dict[str, Checker] = {
    "mode": values.choice(Mode),
    "keys": values.names,
    "column_map": values.column_map,
    "update_columns": values.names,
    "compare_columns": values.names,
    "event_timestamp_column": values.name,
    "sequence_by": values.names,
    "apply_as_deletes": values.condition,
    "ignore_null_updates": values.flag,
    "history_columns": values.history_columns,
    "handle_deletes": values.choice(HandleDeletes),
    "on_duplicate_keys": values.choice(OnDuplicateKeys),
    "ttl": parse_duration,
    "max_delete_fraction": values.fraction,
    "on_drift": values.choice(OnDrift),
    "strict_schema": values.flag,
    "partition_by": values.names,
}
_PIPELINE_CHECKS: dict[str, Checker] = {
    "target": _anything,  # a class or a name: the project's tables decide
    "targets": _targets,
    "name": values.declared_name,
    "schedule": values.name,
    "timezone": values.name,
    "source_connection": name_of,
    "target_connection": name_of,
    "source_table": values.name,
    "incremental_column": values.name,
    "lookback": values.lookback,
    "transforms_pre": values.steps,
    "transforms_post": values.steps,
    "expectations": values.expectations,
    "on_quality_failure": values.choice(OnQualityFailure),
    "freshness_sla": parse_duration,
    "freshness_column": values.name,
    "depends_on": values.names,
    "upstream_freshness": values.upstream_freshness,
    "retry": values.retry,
    "catch_up": values.choice(CatchUp),
    "lease_ttl": parse_duration,
    "force_path": values.choice(Path),
    "continue_on_failure": values.flag,
    "continue_on_failure_post": values.flag,
    "alert_on_quality_warn": values.flag,
    "idempotent": values.flag,
    "engine": values.name,
    "dialect": values.name,
    "tags": values.names,
    **_WRITE_CHECKS,
}


def checked_pipeline(keywords: Mapping[str, object], where: Location | str) -> dict[str, Any]:
    """Return a pipeline's keywords in the form that the specs hold."""
    return _checked(keywords, _PIPELINE_CHECKS, "a pipeline", where)


def checked_write(keywords: Mapping[str, object], where: Location | str) -> dict[str, Any]:
    """Return a target's keywords in the form that the specs hold."""
    return _checked(keywords, _WRITE_CHECKS, "a target", where)


def is_write_keyword(keyword: str) -> bool:
    """Tell whether a pipeline's keyword is about how its target is written."""
    return keyword in _WRITE_CHECKS


def _checked(
    keywords: Mapping[str, object], checks: Mapping[str, Checker], what: str, where: Location | str
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for keyword, value in keywords.items():
        if keyword not in checks:
            raise DeclarationError(
                f"{what} has no keyword {keyword!r}"
                + did_you_mean(keyword, checks)
                + f" (known: {', '.join(sorted(checks))})",
                where=where,
            )
        if value is None:
            continue  # as if it had not been written
        try:
            found[keyword] = checks[keyword](value)
        except ValueError as error:
            raise DeclarationError(f"{keyword} {error}", where=where) from None
    return found
