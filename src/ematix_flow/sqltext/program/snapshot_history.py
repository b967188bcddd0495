"""scd2 without an order: the input says how things are now, and now is when the run commits."""

from __future__ import annotations

from ematix_flow.sqltext.program.scene import Scene
from ematix_flow.sqltext.program.statement import MISSING, Effect, Program, Statement
from ematix_flow.sqltext.program.work import CHANGES, OP


def snapshot_history(scene: Scene) -> Program:
    """Close the versions that changed and open new ones."""
    return scene.matching(
        (CHANGES, (OP, *scene.given)),
        computes=(_matched(scene), *_still_expired(scene), *_missing(scene)),
        applies=(_close(scene), *_touch_up(scene), *_open(scene), *_expire(scene)),
    )


def _matched(scene: Scene) -> Statement:
    layout = scene.layout
    deletes = scene.is_deletion("s")
    absent, there = scene.is_absent("t"), scene.is_there("t")
    changed = scene.outdated("t", "s", layout.compare)
    shown = scene.changed("s", "t", _shown_only(scene))
    query = (
        f"SELECT CASE WHEN {deletes} THEN 'close' WHEN {absent} THEN 'insert' "
        f"WHEN {changed} THEN 'change' ELSE 'update' END, "
        f"{scene.grammar.columns('s', layout.given)} FROM {scene.staging} AS s "
        f"LEFT JOIN {scene.target} AS t ON {scene.matches('t', 's')} AND {scene.is_current('t')} "
        f"WHERE (NOT {deletes} AND ({absent} OR {changed} OR {shown})) "
        f"OR ({deletes} AND {there} AND NOT {scene.is_marked('t')})"
    )
    return scene.note(layout.given, query)


def _shown_only(scene: Scene) -> tuple[str, ...]:
    """Return the columns that make no version: a version shows their latest values."""
    return tuple(name for name in scene.layout.values if name not in scene.layout.compare)


def _missing(scene: Scene) -> tuple[Statement, ...]:
    if not scene.is_snapshot:
        return ()
    given = scene.layout.given
    query = (
        f"SELECT '{MISSING}', {scene.grammar.columns('t', given)} {scene.vanished()} "
        f"AND {scene.is_current('t')}"
    )
    return (scene.note(given, query),)


def _closing(scene: Scene) -> tuple[str, ...]:
    deleting = ("close",) if scene.layout.flagged else ()
    vanishing = (MISSING,) if scene.is_snapshot else ()
    return ("change", *deleting, *vanishing)


def _close(scene: Scene) -> Statement:
    history = scene.layout.history
    assert history is not None
    ended = {history.valid_to: scene.run.value("at"), history.is_current: "FALSE"}
    where = f"{scene.matches('t', 'c')} AND {scene.is_current('t')}"
    return scene.update(_closing(scene), ended, Effect.CLOSED, where=where)


def _touch_up(scene: Scene) -> tuple[Statement, ...]:
    names = _shown_only(scene)
    if not names:
        return ()
    values = {name: scene.grammar.column("c", name) for name in names} | scene.audit
    where = f"{scene.matches('t', 'c')} AND {scene.is_current('t')}"
    return (scene.update(("update",), values, Effect.UPDATED, where=where),)


def _open(scene: Scene) -> tuple[Statement, ...]:
    history = scene.layout.history
    assert history is not None
    begun = {
        history.valid_from: scene.run.value("at"),
        history.valid_to: "NULL",
        history.is_current: "TRUE",
    }
    opened = scene.insert(("insert", "change"), {**begun, **scene.mark(deleted=False)})
    if scene.layout.soft_column is None:
        return (opened,)
    # A deleted key leaves a last version that says so.
    gone = tuple(op for op in _closing(scene) if op != "change")
    return (opened, scene.insert(gone, {**begun, **scene.mark(deleted=True)}))


def _still_expired(scene: Scene) -> tuple[Statement, ...]:
    """Leave a version closed that ran out of time: the same row again says nothing new."""
    layout, history, grammar = scene.layout, scene.layout.history, scene.grammar
    if layout.ttl is None:
        return ()
    assert history is not None
    begun, ended = (grammar.column("c", each) for each in (history.valid_from, history.valid_to))
    later = grammar.column("l", history.valid_from)
    where = (
        f"{scene.matches('t', 'c')} AND {scene.op('t', 'insert')} "
        f"AND {ended} = {grammar.later(begun, layout.ttl)} "
        f"AND NOT {scene.changed('t', 'c', layout.compare)} AND NOT EXISTS ("
        f"SELECT 1 FROM {scene.target} AS l WHERE {scene.matches('l', 'c')} AND {later} > {begun})"
    )
    return (Statement(sql=grammar.delete(scene.changes, scene.target, where)),)


def _expire(scene: Scene) -> tuple[Statement, ...]:
    layout, history, grammar = scene.layout, scene.layout.history, scene.grammar
    if layout.ttl is None:
        return ()
    assert history is not None
    begun = grammar.name(history.valid_from)
    sql = (
        f"UPDATE {scene.target} SET {grammar.name(history.valid_to)} = "
        f"{grammar.later(begun, layout.ttl)}, {grammar.name(history.is_current)} = FALSE "
        f"WHERE {grammar.name(history.is_current)} AND {begun} < {scene.run.value('expired')}"
    )
    return (Statement(sql=sql, effect=Effect.CLOSED),)
