"""A plan, told to people and to programs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from ematix_flow.plan.diff import Change, ChangeKind
from ematix_flow.plan.explain import describe, statements
from ematix_flow.plan.plan import Plan, TargetPlan
from ematix_flow.resolve.keys import KeyChoice
from ematix_flow.spec.duration import duration_text
from ematix_flow.spec.window import Window

_SIGNS = {ChangeKind.ADD: "+", ChangeKind.DROP: "-", ChangeKind.RENAME: "?"}


def plan_text(plan: Plan, *, sql: bool = False) -> str:
    """Return the plan as text; *sql* adds every statement."""
    return "\n".join(_lines(plan, sql=sql))


def _lines(plan: Plan, *, sql: bool) -> Iterator[str]:
    source = plan.source_connection or "frames"
    yield f"{plan.pipeline}  ({plan.location})"
    for target in plan.targets:
        yield f"  {source} -> {target.connection}.{target.target}  mode {target.mode}"
    yield f"  why: {plan.why}"
    yield f"  path {plan.path}: {plan.path_why}"
    for target in plan.targets:
        named = f" {target.connection}.{target.target}" if len(plan.targets) > 1 else ""
        there = "exists" if target.exists else "will be created"
        yield f"  target{named} {there}, last commit {target.last_commit or 'never'}"
    yield from (f"  after {each.upstream}  ({each.why})" for each in plan.depends_on)
    yield from (f"  upstream {each}" for each in plan.upstreams)
    yield from _rows(plan)
    for target in plan.targets:
        changes = target.diff.changes if target.diff else ()
        yield from (f"  {_change_text(change)}" for change in changes)
    yield from _steps(plan, sql=sql)
    yield from (f"  DESTRUCTIVE: {each}" for each in plan.destructive)
    yield from (f"  note: {remark}" for remark in plan.remarks)
    yield from (f"  cannot run yet: {each}" for each in plan.blockers)


def _rows(plan: Plan) -> Iterator[str]:
    """Tell which rows there are, how they match, what they are made of."""
    for target in plan.targets:
        if target.keys is not None:
            of = f" of {target.target}" if len(plan.targets) > 1 else ""
            yield f"  rows{of} match by {', '.join(target.keys.columns)}  ({target.keys.why})"
    if plan.window is not None:
        yield f"  window {window_text(plan.window)}"
    if not plan.analysed:
        yield "  columns and lineage: not analysed (flow plan --analyze)"
    for column in plan.lineage.columns if plan.lineage else ():
        made_of = ", ".join(str(source) for source in column.sources) or "a constant"
        yield f"  {column.column} <- {made_of}"
    for expectation in plan.expectations:
        yield f"  expects {expectation.name}: {expectation.condition}"


def _steps(plan: Plan, *, sql: bool) -> Iterator[str]:
    for number, step in enumerate(plan.steps, start=1):
        yield f"  {number}. {step.name:<9} {describe(step)}"
        for text in statements(step) if sql else ():
            yield from (f"       {line}" for line in text.splitlines())


def window_text(window: Window) -> str:
    """Say which rows an incremental load takes."""
    if window.lookback is None or window.start is None:
        return str(window)
    back = window.lookback
    shown = duration_text(back) if isinstance(back, timedelta) else back
    return f"{window} ({shown} before {window.start.partition(' ')[2]}, for rows that came late)"


def _change_text(change: Change) -> str:
    sign = _SIGNS.get(change.kind, "~")
    note = f"  ({change.note})" if change.note else ""
    return f"{sign} {change.kind.value}: {change.text}{note}"


def plan_json(plan: Plan) -> dict[str, object]:
    """Return the plan as stable data (see docs/plans.md)."""
    first = plan.first
    return {
        "pipeline": plan.pipeline,
        "location": plan.location,
        "mode": first.mode.value,
        "source_connection": plan.source_connection,
        "target_connection": first.connection,
        "target": first.target,
        "target_exists": first.exists,
        "last_commit": first.last_commit,
        "why": plan.why,
        "path": plan.path.value,
        "path_why": plan.path_why,
        "depends_on": [{"pipeline": each.upstream, "why": each.why} for each in plan.depends_on],
        "upstreams": [
            {
                "pipeline": each.upstream,
                "last_commit": each.last_commit.isoformat() if each.last_commit else None,
                "limit_seconds": each.limit.total_seconds(),
                "fresh": each.is_fresh,
            }
            for each in plan.upstreams
        ],
        "keys": _keys_json(first.keys),
        "targets": [_target_json(each) for each in plan.targets],
        "window": _window_json(plan.window),
        "schema": [_change_json(change) for change in first.diff.changes] if first.diff else [],
        "expectations": [
            {"name": each.name, "condition": each.condition} for each in plan.expectations
        ],
        "connectors": list(plan.connectors),
        "input_bytes": plan.input_bytes,
        "steps": [
            {"step": step.name, "description": describe(step), "sql": list(statements(step))}
            for step in plan.steps
        ],
        "destructive": list(plan.destructive),
        "analysed": plan.analysed,
        "lineage": plan.lineage.to_json() if plan.lineage else None,
        "blockers": list(plan.blockers),
        "remarks": list(plan.remarks),
    }


def _target_json(target: TargetPlan) -> dict[str, object]:
    return {
        "connection": target.connection,
        "target": target.target,
        "mode": target.mode.value,
        "exists": target.exists,
        "last_commit": target.last_commit,
        "keys": _keys_json(target.keys),
        "schema": [_change_json(each) for each in target.diff.changes] if target.diff else [],
        "destructive": list(target.destructive),
    }


def _keys_json(keys: KeyChoice | None) -> dict[str, object] | None:
    return None if keys is None else {"columns": list(keys.columns), "why": keys.why}


def _window_json(window: Window | None) -> dict[str, object] | None:
    if window is None:
        return None
    back = window.lookback
    shown = duration_text(back) if isinstance(back, timedelta) else back
    operator, _, value = (window.start or "").partition(" ")
    return {
        "column": window.column,
        "above": value if operator == ">" else None,
        "start": window.start,
        "end": window.end,
        "lookback": shown,
    }


def _change_json(change: Change) -> dict[str, object]:
    return {
        "change": change.kind.value,
        "column": change.column,
        "declared": change.declared,
        "actual": change.actual,
        "sql": change.sql,
        "destructive": change.destructive,
        "note": change.note,
    }
