"""The events of a history, in order: new ones, remembered ones, and beginnings of versions.

They are put in order from the first version that the new ones can touch, and neighbours that
agree become one version.
"""

from __future__ import annotations

from datetime import timedelta

from ematix_flow.spec.layout import AT, SEQUENCE
from ematix_flow.spec.modes import HandleDeletes
from ematix_flow.spec.table import Column
from ematix_flow.spec.types import Boolean
from ematix_flow.sqltext.program.companion import DELETED, ORDER, ROW
from ematix_flow.sqltext.program.scene import Scene
from ematix_flow.sqltext.program.statement import Statement

NEW = "_flow_new"
BOUNDS = "_flow_bounds"
EVENTS = "_flow_events"
FROM = "_flow_from"
UNTIL = "_flow_until"
LOGGED = Column(name="_flow_logged", type=Boolean())
LAST = Column(name="_flow_is_last", type=Boolean())
MANY = Column(name="_flow_many", type=Boolean())
_A_MOMENT = timedelta(microseconds=1)


def soft_columns(scene: Scene) -> tuple[Column, ...]:
    """Return the column that marks deleted keys, if there is one."""
    soft = scene.layout.soft_column
    return (scene.layout.column(soft),) if soft else ()


def shown_columns(scene: Scene) -> tuple[str, ...]:
    """Return the columns that an event has and a version shows."""
    return (*scene.layout.given, *(each.name for each in soft_columns(scene)))


def event_columns(scene: Scene) -> tuple[str, ...]:
    """Return the columns of an event."""
    return (*shown_columns(scene), AT, ORDER.name, DELETED.name, ROW.name)


def has_ties(scene: Scene) -> bool:
    """Whether the time alone does not order events: what decides must then be remembered."""
    return len(scene.layout.order) > 1


def version_columns(scene: Scene, alias: str) -> tuple[str, str, str]:
    """Return beginning, end and currentness of a version."""
    history, column = scene.layout.history, scene.grammar.column
    assert history is not None
    ends = column(alias, history.valid_to)
    return column(alias, history.valid_from), ends, scene.is_current(alias)


def _ranked(scene: Scene, alias: str) -> str:
    """Return which of the events of one moment counts: the last, deletions after the others."""
    grammar = scene.grammar
    order = [grammar.sorting(grammar.column(alias, ORDER.name))] if has_ties(scene) else []
    by = (
        *order,
        grammar.column(alias, DELETED.name),
        grammar.sorting(grammar.column(alias, ROW.name)),
    )
    keys = grammar.columns(alias, (*scene.layout.keys, AT))
    return f"PARTITION BY {keys} ORDER BY {', '.join(f'{each} DESC' for each in by)}"


def new_events(scene: Scene) -> Statement:
    """Take the staged events; of those of one key and moment, the one that counts."""
    grammar = scene.grammar
    listed = {
        **{name: grammar.column("s", name) for name in scene.layout.given},
        **scene.mark(deleted=False),
        AT: grammar.column("s", AT),
        ORDER.name: grammar.column("s", SEQUENCE),
        DELETED.name: scene.is_deletion("s"),
        ROW.name: grammar.digest("s", scene.given),
    }
    chosen = ", ".join(f"{value} AS {grammar.name(name)}" for name, value in listed.items())
    events = f"SELECT {chosen} FROM {scene.staging} AS s"
    names = event_columns(scene)
    query = (
        f"SELECT {grammar.columns('w', names)} FROM (SELECT e.*, ROW_NUMBER() OVER ("
        f"{_ranked(scene, 'e')}) AS _flow_n FROM ({events}) AS e) AS w WHERE w._flow_n = 1"
    )
    return scene.work.fill(NEW, names, query)


def missing_keys(scene: Scene) -> tuple[Statement, ...]:
    """Let a snapshot say that the keys it lacks are gone since now."""
    if not scene.is_snapshot:
        return ()
    grammar = scene.grammar
    begun, _, current = version_columns(scene, "t")
    now = scene.run.value("at")
    at = f"CASE WHEN {begun} < {now} THEN {now} ELSE {grammar.later(begun, _A_MOMENT)} END"
    is_gone = scene.layout.handle_deletes is HandleDeletes.HARD
    listed = {
        **{name: grammar.column("t", name) for name in scene.layout.given},
        **scene.mark(deleted=True),
        AT: at,
        ORDER.name: "''",
        DELETED.name: "TRUE" if is_gone else "FALSE",
        ROW.name: grammar.digest("t", scene.given),
    }
    query = f"SELECT {', '.join(listed.values())} {scene.vanished()} AND {current}"
    return (scene.work.fill(NEW, listed, query),)


def returned_keys(scene: Scene) -> tuple[Statement, ...]:
    """Let a key live again since now that is back in the snapshot, though its event is old."""
    if not scene.is_snapshot:
        return ()
    grammar = scene.grammar
    begun, ended, current = version_columns(scene, "t")
    keys = scene.layout.keys
    lives = f"CASE WHEN {current} AND NOT {scene.is_marked('t')} THEN 1 ELSE 0 END"
    # A deletion that no version shows is one all the same.
    known = (
        f"SELECT {grammar.columns('t', keys)}, COALESCE({ended}, {begun}) AS _flow_at_last, "
        f"{lives} AS _flow_lives FROM {scene.target} AS t UNION ALL "
        f"SELECT {grammar.columns('q', keys)}, {grammar.column('q', AT)}, 0 "
        f"FROM {scene.memory} AS q WHERE {grammar.column('q', DELETED.name)}"
    )
    over = (
        f"SELECT {grammar.columns('v', keys)}, MAX(v._flow_at_last) AS _flow_ended "
        f"FROM ({known}) AS v GROUP BY {grammar.columns('v', keys)} HAVING SUM(v._flow_lives) = 0"
    )
    newest = (
        f"SELECT e.*, ROW_NUMBER() OVER (PARTITION BY {grammar.columns('e', keys)} "
        f"ORDER BY {grammar.column('e', AT)} DESC) AS _flow_n FROM {scene.work.table(NEW)} AS e"
    )
    names = event_columns(scene)
    now = scene.run.value("at")
    chosen = ", ".join(now if name == AT else grammar.column("w", name) for name in names)
    at, ttl = grammar.column("w", AT), scene.layout.ttl
    # A version that ran out of time stays closed: the same event again says nothing new.
    in_time = "" if ttl is None else f" AND {grammar.later(at, ttl)} > o._flow_ended"
    query = (
        f"SELECT {chosen} FROM ({newest}) AS w JOIN ({over}) AS o ON {scene.matches('o', 'w')} "
        f"WHERE w._flow_n = 1 AND NOT {grammar.column('w', DELETED.name)} "
        f"AND {at} <= o._flow_ended AND o._flow_ended < {now}{in_time}"
    )
    return (scene.work.fill(NEW, names, query),)


def bounds(scene: Scene) -> Statement:
    """Find, for each key, the first version that the new events can touch."""
    grammar, keys = scene.grammar, scene.layout.keys
    begun, ended, _ = version_columns(scene, "t")
    first = grammar.column("b", FROM)
    earliest = (
        f"SELECT {grammar.columns('n', keys)}, "
        f"MIN({grammar.column('n', AT)}) AS {grammar.name(FROM)} FROM {scene.work.table(NEW)} AS "
        f"n GROUP BY {grammar.columns('n', keys)}"
    )
    query = (
        f"SELECT {grammar.columns('b', keys)}, CASE WHEN MIN({begun}) < MIN({first}) "
        f"THEN MIN({begun}) ELSE MIN({first}) END FROM ({earliest}) AS b "
        f"LEFT JOIN {scene.target} AS t ON {scene.matches('t', 'b')} "
        f"AND ({ended} IS NULL OR {ended} >= {first}) GROUP BY {grammar.columns('b', keys)}"
    )
    return scene.work.fill(BOUNDS, (*keys, FROM), query)


def _known(scene: Scene) -> str:
    """Return all events from the bounds on: new, remembered, and beginnings of versions."""
    grammar = scene.grammar
    names, window = event_columns(scene), scene.work.table(BOUNDS)
    begun, _, _ = version_columns(scene, "t")
    start, remembered = grammar.column("b", FROM), grammar.column("q", AT)
    version = {
        **{name: grammar.column("t", name) for name in shown_columns(scene)},
        AT: begun,
        ORDER.name: "''",
        DELETED.name: "FALSE",
        ROW.name: grammar.digest("t", scene.given),
    }
    logged = grammar.name(LOGGED.name)
    return (
        f"SELECT {grammar.columns('n', names)}, FALSE AS {logged} "
        f"FROM {scene.work.table(NEW)} AS n UNION ALL SELECT {grammar.columns('q', names)}, TRUE "
        f"FROM {scene.memory} AS q "
        f"JOIN {window} AS b ON {scene.matches('q', 'b')} AND {remembered} >= {start} "
        f"UNION ALL SELECT {', '.join(version.values())}, FALSE FROM {scene.target} AS t "
        f"JOIN {window} AS b ON {scene.matches('t', 'b')} AND {begun} >= {start} "
        f"LEFT JOIN {scene.memory} AS q ON {scene.matches('q', 't')} AND {remembered} = {begun} "
        f"WHERE {scene.is_absent('q')}"
    )


def events(scene: Scene) -> Statement:
    """Put the events in order and find the runs of neighbours that agree."""
    grammar, keys = scene.grammar, scene.layout.keys
    names = (*event_columns(scene), LOGGED.name)
    of_key = grammar.columns("e", keys)
    in_time = f"OVER (PARTITION BY {of_key} ORDER BY {grammar.column('e', AT)})"
    in_run = f"OVER (PARTITION BY {grammar.columns('r', keys)}, r._flow_island)"
    at = grammar.column("r", AT)
    counted = (
        f"SELECT u.*, ROW_NUMBER() OVER ({_ranked(scene, 'u')}, "
        f"{grammar.column('u', LOGGED.name)} DESC) AS _flow_n FROM ({_known(scene)}) AS u"
    )
    begun = (
        f"SELECT {grammar.columns('e', names)}, "
        f"LEAD({grammar.column('e', AT)}) {in_time} AS _flow_next, CASE WHEN "
        f"{_begins(scene, in_time)} THEN 1 ELSE 0 END AS _flow_begins "
        f"FROM ({counted}) AS e WHERE e._flow_n = 1"
    )
    numbered = (
        f"SELECT e.*, SUM(e._flow_begins) OVER (PARTITION BY {of_key} "
        f"ORDER BY {grammar.column('e', AT)} ROWS UNBOUNDED PRECEDING) AS _flow_island FROM "
        f"({begun}) AS e"
    )
    query = (
        f"SELECT {grammar.columns('r', names)}, MIN({at}) {in_run}, {_until(scene)}, "
        f"{at} = MAX({at}) {in_run}, COUNT(*) {in_run} > 1 FROM ({numbered}) AS r"
    )
    into = (*names, FROM, UNTIL, LAST.name, MANY.name)
    return scene.work.fill(EVENTS, into, query)


def _begins(scene: Scene, in_time: str) -> str:
    """Say that an event does not go on with what the one before it says."""
    layout, grammar = scene.layout, scene.grammar
    at, deleted = grammar.column("e", AT), grammar.column("e", DELETED.name)
    compared = [*layout.compare, *(each.name for each in soft_columns(scene))]
    conditions = [
        deleted,
        f"LAG({at}) {in_time} IS NULL",
        f"LAG({deleted}) {in_time}",
    ]
    if layout.ttl is not None:
        conditions.append(f"{grammar.later(f'LAG({at}) {in_time}', layout.ttl)} < {at}")
    for name in compared:
        value = grammar.comparable(grammar.column("e", name), layout.column(name).type)
        conditions.append(grammar.distinct(f"LAG({value}) {in_time}", value))
    return grammar.any_of(conditions)


def _until(scene: Scene) -> str:
    """Return when a version ends, told at its last event."""
    layout, grammar = scene.layout, scene.grammar
    if layout.ttl is None:
        return "r._flow_next"
    at = grammar.column("r", AT)
    out_of_time = grammar.later(at, layout.ttl)
    return (
        f"CASE WHEN r._flow_next IS NULL AND {at} < {scene.run.value('expired')} "
        f"THEN {out_of_time} WHEN {out_of_time} < r._flow_next THEN {out_of_time} ELSE "
        f"r._flow_next END"
    )
