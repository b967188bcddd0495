"""ttl: a current version ends when nothing was heard of its key for too long."""

from __future__ import annotations

from ematix_flow.spec.layout import AT
from ematix_flow.sqltext.program.events import version_columns
from ematix_flow.sqltext.program.scene import Scene
from ematix_flow.sqltext.program.statement import Effect, Statement


def expire_by_age(scene: Scene) -> tuple[Statement, ...]:
    """Close the current versions that began too long ago."""
    if scene.layout.ttl is None:
        return ()
    history, grammar = scene.layout.history, scene.grammar
    assert history is not None
    begun, current = grammar.name(history.valid_from), grammar.name(history.is_current)
    ended = ", ".join(
        f"{grammar.name(name)} = {value}" for name, value in _ended(scene, begun).items()
    )
    where = f"{current} AND {_is_over(scene, begun)}"
    return (
        Statement(sql=f"UPDATE {scene.target} SET {ended} WHERE {where}", effect=Effect.CLOSED),
    )


def expire_by_silence(scene: Scene) -> tuple[Statement, ...]:
    """Close the current versions whose last event, shown or remembered, is too long ago."""
    if scene.layout.ttl is None:
        return ()
    grammar, keys = scene.grammar, scene.layout.keys
    begun, _, current = version_columns(scene, "t")
    remembered = grammar.column("q", AT)
    heard = (
        f"SELECT {grammar.columns('t', keys)}, {begun} AS _flow_begun, "
        f"MAX(COALESCE({remembered}, {begun})) AS _flow_heard FROM {scene.target} AS t "
        f"LEFT JOIN {scene.memory} AS q ON {scene.matches('q', 't')} AND {remembered} > {begun} "
        f"WHERE {current} GROUP BY {grammar.columns('t', keys)}, {begun}"
    )
    old = f"(SELECT h.* FROM ({heard}) AS h WHERE {_is_over(scene, 'h._flow_heard')})"
    where = f"{scene.matches('t', 'c')} AND {begun} = c._flow_begun"
    ended = _ended(scene, "c._flow_heard")
    return (Statement(sql=grammar.update(scene.target, ended, old, where), effect=Effect.CLOSED),)


def still_expired(scene: Scene) -> tuple[Statement, ...]:
    """Leave a version closed that ran out of time: the same row again says nothing new."""
    if scene.layout.ttl is None:
        return ()
    grammar = scene.grammar
    begun, ended, _ = version_columns(scene, "c")
    later, _, _ = version_columns(scene, "l")
    where = (
        f"{scene.matches('t', 'c')} AND {scene.op('t', 'insert')} "
        f"AND {ended} = {grammar.later(begun, scene.layout.ttl)} "
        f"AND NOT {scene.changed('t', 'c', scene.layout.compare)} AND NOT EXISTS ("
        f"SELECT 1 FROM {scene.target} AS l WHERE {scene.matches('l', 'c')} AND {later} > {begun})"
    )
    return (Statement(sql=grammar.delete(scene.changes, scene.target, where)),)


def _is_over(scene: Scene, heard: str) -> str:
    return f"{heard} < {scene.run.value('expired')}"


def _ended(scene: Scene, heard: str) -> dict[str, str]:
    """Return what ends a version that was last heard of at *heard*."""
    history, ttl = scene.layout.history, scene.layout.ttl
    assert history is not None
    assert ttl is not None
    return {history.valid_to: scene.grammar.later(heard, ttl), history.is_current: "FALSE"}
