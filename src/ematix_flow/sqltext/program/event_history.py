"""scd2 with an order: history is what the events say, however late and in whatever batches.

The difference between the versions that the events make and those that are there is what is to
be done. The companion then takes in the events that no version shows.
"""

from __future__ import annotations

from ematix_flow.spec.layout import AT
from ematix_flow.spec.table import Column
from ematix_flow.sqltext.program.companion import DELETED, ORDER, ROW
from ematix_flow.sqltext.program.events import (
    BOUNDS,
    EVENTS,
    FROM,
    LAST,
    LOGGED,
    MANY,
    NEW,
    UNTIL,
    bounds,
    event_columns,
    events,
    has_ties,
    missing_keys,
    new_events,
    returned_keys,
    shown_columns,
    soft_columns,
    version_columns,
)
from ematix_flow.sqltext.program.expiry import expire_by_silence
from ematix_flow.sqltext.program.scene import Scene
from ematix_flow.sqltext.program.statement import Effect, Program, Statement
from ematix_flow.sqltext.program.work import CHANGES, OP


def event_history(scene: Scene) -> Program:
    """Splice the events into history."""
    moment = scene.layout.history_type
    keys = tuple(scene.layout.column(key) for key in scene.layout.keys)
    said = (*scene.given, *soft_columns(scene), Column(name=AT, type=moment), ORDER, DELETED, ROW)
    begins, ends = Column(name=FROM, type=moment), Column(name=UNTIL, type=moment)
    return scene.matching(
        (NEW, said),
        (BOUNDS, (*keys, begins)),
        (EVENTS, (*said, LOGGED, begins, ends, LAST, MANY)),
        (CHANGES, (OP, *scene.given, *soft_columns(scene), begins, ends)),
        computes=(
            new_events(scene),
            *missing_keys(scene),
            *returned_keys(scene),
            bounds(scene),
            events(scene),
            _wanted(scene),
            _unwanted(scene),
            # For the count alone: their events say the rest.
            *scene.missing(scene.layout.keys, also=scene.is_current("t")),
        ),
        unchanged=_unchanged(scene),
        applies=(*_apply(scene), *_remember(scene), *expire_by_silence(scene)),
    )


def _is_version(scene: Scene, alias: str) -> str:
    grammar = scene.grammar
    return f"{grammar.column(alias, LAST.name)} AND NOT {grammar.column(alias, DELETED.name)}"


def _wanted(scene: Scene) -> Statement:
    """Note the versions that are to be inserted, ended or shown differently."""
    grammar = scene.grammar
    begun, ended, current = version_columns(scene, "t")
    start, until = grammar.column("e", FROM), grammar.column("e", UNTIL)
    shown = [*(n for n in shown_columns(scene) if n not in scene.layout.keys)]
    is_closed = f"{ended} IS NULL AND {until} IS NOT NULL"
    differs = grammar.any_of(
        [
            grammar.distinct(ended, until),
            grammar.distinct(current, f"({until} IS NULL)"),
            scene.changed("e", "t", shown),
        ]
    )
    names = (*shown_columns(scene), FROM, UNTIL)
    query = (
        f"SELECT CASE WHEN {scene.is_absent('t')} THEN 'insert' WHEN {is_closed} THEN 'close' "
        f"ELSE 'update' END, {grammar.columns('e', names)} FROM {scene.work.table(EVENTS)} AS e "
        f"LEFT JOIN {scene.target} AS t ON {scene.matches('t', 'e')} AND {begun} = {start} "
        f"WHERE {_is_version(scene, 'e')} AND ({scene.is_absent('t')} OR {differs})"
    )
    return scene.note(names, query)


def _unwanted(scene: Scene) -> Statement:
    """Note the versions that are there and should not be."""
    grammar, keys = scene.grammar, scene.layout.keys
    begun, _, _ = version_columns(scene, "t")
    query = (
        f"SELECT 'delete', {grammar.columns('t', keys)}, {begun} FROM {scene.target} AS t "
        f"JOIN {scene.work.table(BOUNDS)} AS b ON {scene.matches('b', 't')} "
        f"AND {begun} >= {grammar.column('b', FROM)} "
        f"LEFT JOIN {scene.work.table(EVENTS)} AS e ON {scene.matches('e', 't')} "
        f"AND {grammar.column('e', FROM)} = {begun} AND {_is_version(scene, 'e')} "
        f"WHERE {scene.is_absent('e')}"
    )
    return scene.note((*keys, FROM), query)


def _unchanged(scene: Scene) -> str:
    """Return the query for the staged rows of keys that did not change."""
    changed = f"SELECT DISTINCT {scene.grammar.names(scene.layout.keys)} FROM {scene.changes}"
    return (
        f"SELECT count(*) FROM {scene.staging} AS s LEFT JOIN ({changed}) AS c "
        f"ON {scene.matches('c', 's')} WHERE {scene.is_absent('c')}"
    )


def _apply(scene: Scene) -> tuple[Statement, ...]:
    history, grammar = scene.layout.history, scene.grammar
    assert history is not None
    begun, _, _ = version_columns(scene, "t")
    start, until = grammar.column("c", FROM), grammar.column("c", UNTIL)
    where = f"{scene.matches('t', 'c')} AND {begun} = {start}"
    ended = {history.valid_to: until, history.is_current: f"({until} IS NULL)"}
    shown = {
        name: grammar.column("c", name)
        for name in shown_columns(scene)
        if name not in scene.layout.keys
    }
    soft = {each.name: grammar.column("c", each.name) for each in soft_columns(scene)}
    return (
        scene.delete(("delete",), where=where),
        scene.update(("close",), {**shown, **ended}, Effect.CLOSED, where=where),
        scene.update(("update",), {**shown, **ended, **scene.audit}, Effect.UPDATED, where=where),
        scene.insert(("insert",), {**soft, history.valid_from: start, **ended}),
    )


def _remember(scene: Scene) -> tuple[Statement, ...]:
    """Let the companion take in the events that no version shows as they were."""
    grammar = scene.grammar
    events = scene.work.table(EVENTS)
    same = f"{scene.matches('t', 'c')} AND {grammar.column('t', AT)} = {grammar.column('c', AT)}"
    is_new = f"NOT {grammar.column('c', LOGGED.name)}"
    hidden = f"{grammar.column('c', MANY.name)} OR {grammar.column('c', DELETED.name)}"
    wanted = is_new if has_ties(scene) else f"{is_new} AND ({hidden})"
    names = event_columns(scene)
    query = f"SELECT {grammar.columns('c', names)} FROM {events} AS c WHERE {wanted}"
    return (
        Statement(sql=grammar.delete(scene.memory, events, f"{same} AND {is_new}")),
        Statement(sql=grammar.insert(scene.memory, names, query)),
    )
