"""merge and scd1 without an order: each key comes once, and the input is the newest there is."""

from __future__ import annotations

from ematix_flow.sqltext.program.scene import Scene
from ematix_flow.sqltext.program.statement import MISSING, Effect, Program, Statement
from ematix_flow.sqltext.program.work import CHANGES, OP


def merge(scene: Scene) -> Program:
    """Insert new keys, update changed rows, delete what is to be deleted."""
    return scene.matching(
        (CHANGES, (OP, *scene.given)),
        computes=(_matched(scene), *scene.missing(scene.layout.keys)),
        applies=applied(scene, scene.layout.update),
    )


def applied(scene: Scene, names: tuple[str, ...]) -> tuple[Statement, ...]:
    """Carry the changes out: deletions, then updates of these columns, then insertions."""
    values = {name: scene.grammar.column("c", name) for name in names}
    values |= scene.mark(deleted=False) | scene.audit
    # A table of keys alone has nothing to set; setting a key to itself changes nothing.
    values = values or {scene.first_key: scene.grammar.column("c", scene.first_key)}
    return (
        *_deletions(scene),
        scene.update(("update",), values, Effect.UPDATED, where=scene.matches("t", "c")),
        scene.insert(("insert",), scene.mark(deleted=False)),
    )


def _deletions(scene: Scene) -> tuple[Statement, ...]:
    """Remove the rows of deleted keys, or mark them."""
    if not scene.is_snapshot and not scene.layout.has_deletion_flag:
        return ()
    ops = ("delete", MISSING)
    where = scene.matches("t", "c")
    if scene.layout.soft_column is None:
        return (scene.delete(ops, where=where),)
    marked = {**scene.mark(deleted=True), **scene.audit}
    return (scene.update(ops, marked, Effect.DELETED, where=where),)


def _matched(scene: Scene) -> Statement:
    layout = scene.layout
    deletes = scene.is_deletion("s")
    absent, there = scene.is_absent("t"), scene.is_there("t")
    chosen = ", ".join(_value(scene, name) for name in layout.given)
    query = (
        f"SELECT CASE WHEN {deletes} THEN 'delete' WHEN {absent} THEN 'insert' ELSE 'update' END, "
        f"{chosen} FROM {scene.staging} AS s LEFT JOIN {scene.target} AS t "
        f"ON {scene.matches('t', 's')} "
        f"WHERE (NOT {deletes} AND ({absent} OR {_is_changed(scene)})) "
        f"OR ({deletes} AND {there} AND NOT {scene.is_marked('t')})"
    )
    return scene.note(layout.given, query)


def _value(scene: Scene, name: str) -> str:
    mine = scene.grammar.column("s", name)
    if not scene.layout.ignore_null_updates or name in scene.layout.keys:
        return mine
    return f"COALESCE({mine}, {scene.grammar.column('t', name)})"


def _is_changed(scene: Scene) -> str:
    conditions = [scene.is_marked("t")] if scene.layout.soft_column else []
    for name in scene.layout.compare:
        differs = scene.grammar.differs("s", "t", scene.layout.column(name))
        if scene.layout.ignore_null_updates:
            differs = f"({scene.grammar.column('s', name)} IS NOT NULL AND {differs})"
        conditions.append(differs)
    return scene.grammar.any_of(conditions)
