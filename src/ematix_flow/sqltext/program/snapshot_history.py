"""scd2 without an order: the input says how things are now, and now is when the run commits."""

from __future__ import annotations

from ematix_flow.sqltext.program.expiry import expire_by_age, still_expired
from ematix_flow.sqltext.program.scene import Scene
from ematix_flow.sqltext.program.statement import MISSING, Effect, Program, Statement
from ematix_flow.sqltext.program.work import CHANGES, OP


def snapshot_history(scene: Scene) -> Program:
    """Close the versions that changed and open new ones."""
    return scene.matching(
        (CHANGES, (OP, *scene.given)),
        computes=(
            _matched(scene),
            *still_expired(scene),
            *scene.missing(scene.layout.given, also=scene.is_current("t")),
        ),
        applies=(_close(scene), *_touch_up(scene), *_open(scene), *expire_by_age(scene)),
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


def _closing(scene: Scene) -> tuple[str, ...]:
    deleting = ("close",) if scene.layout.has_deletion_flag else ()
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
