"""merge and scd1 with an order: events may come late, twice, and in any batches.

For each key the companion knows the order of the last event and of the last deletion; the row
lives while the event is the later one. Orders are texts: the sequence, then whether it is a
deletion (which counts last), then the row's digest, so that no two different events are equal.
"""

from __future__ import annotations

from ematix_flow.spec.layout import SEQUENCE
from ematix_flow.spec.table import Column
from ematix_flow.sqltext.program.companion import FIRST, GONE, SEQ, of_column
from ematix_flow.sqltext.program.merge import applied
from ematix_flow.sqltext.program.scene import Scene
from ematix_flow.sqltext.program.statement import MISSING, Program, Statement
from ematix_flow.sqltext.program.work import CHANGES, OP

_NEWEST = "_flow_newest"
_OLDEST = "_flow_oldest"
_ORDERS = "_flow_orders"


def ordered_merge(scene: Scene) -> Program:
    """Apply each key's last event, whatever came before."""
    layout = scene.layout
    tables = [
        (CHANGES, (OP, *scene.given)),
        (_NEWEST, (*scene.given, *_ranks(scene))),
        (_ORDERS, (*(layout.column(key) for key in layout.keys), *_kept(scene))),
    ]
    if scene.layout.sets_part:
        tables.append((_OLDEST, (*scene.given, FIRST)))
    return scene.matching(
        *tables,
        computes=(
            *_newest(scene),
            _orders(scene),
            _living(scene),
            _unchanged(scene),
            _dead(scene),
            *scene.missing(layout.keys),
        ),
        applies=(*applied(scene, scene.layout.values), *_remembered(scene)),
    )


def _ranks(scene: Scene) -> tuple[Column, ...]:
    """Return which orders the newest rows carry: one of the row, or one of each value."""
    if scene.layout.ignore_null_updates:
        return (SEQ, *(of_column(name) for name in scene.layout.values))
    return (SEQ,)


def _kept(scene: Scene) -> tuple[Column, ...]:
    first = (FIRST,) if scene.layout.sets_part else ()
    last, *of_values = _ranks(scene)
    return (last, GONE, *first, *of_values)


def _events(scene: Scene) -> str:
    """Return the staged rows as `e`: what they give, their order, and whether they delete."""
    grammar = scene.grammar
    deletes = scene.is_deletion("s")
    order = grammar.joined(
        grammar.column("s", SEQUENCE),
        f"CASE WHEN {deletes} THEN '!1' ELSE '!0' END",
        grammar.digest("s", scene.given),
    )
    return (
        f"(SELECT {grammar.columns('s', scene.layout.given)}, "
        f"{grammar.sorting(order)} AS {grammar.name(SEQ.name)}, "
        f"{deletes} AS {grammar.name(GONE.name)} FROM {scene.staging} AS s)"
    )


def _newest(scene: Scene) -> tuple[Statement, ...]:
    """Pick each key's last event; for values that ignore NULL, each value's last event."""
    grammar = scene.grammar
    keys, order = grammar.columns("e", scene.layout.keys), grammar.column("e", SEQ.name)
    is_event = f"NOT {grammar.column('e', GONE.name)}"

    def picked(into: str, direction: str, chosen: dict[str, str]) -> Statement:
        listed = ", ".join(f"{value} AS {grammar.name(name)}" for name, value in chosen.items())
        ranked = (
            f"SELECT {listed}, "
            f"ROW_NUMBER() OVER (PARTITION BY {keys} ORDER BY {order} {direction}) AS _flow_n "
            f"FROM {_events(scene)} AS e WHERE {is_event}"
        )
        query = f"SELECT {grammar.columns('w', chosen)} FROM ({ranked}) AS w WHERE w._flow_n = 1"
        return scene.work.fill(into, chosen, query)

    given = {name: grammar.column("e", name) for name in scene.layout.given}
    newest = {**given, SEQ.name: order}
    if scene.layout.ignore_null_updates:
        for name in scene.layout.values:
            value = grammar.column("e", name)
            latest = (
                f"OVER (PARTITION BY {keys} ORDER BY CASE WHEN {value} IS NULL THEN 1 ELSE 0 END, "
                f"{order} DESC)"
            )
            filled = f"CASE WHEN {value} IS NULL THEN NULL ELSE {order} END"
            newest[name] = f"FIRST_VALUE({value}) {latest}"
            newest[of_column(name).name] = f"FIRST_VALUE({filled}) {latest}"
    statements = [picked(_NEWEST, "DESC", newest)]
    if scene.layout.sets_part:
        statements.append(picked(_OLDEST, "ASC", {**given, FIRST.name: order}))
    return tuple(statements)


def _orders(scene: Scene) -> Statement:
    """Bring together what the companion remembers and what the input says, for each key."""
    grammar, keys = scene.grammar, scene.layout.keys
    order, gone = grammar.column("e", SEQ.name), grammar.column("e", GONE.name)
    event = f"CASE WHEN {gone} THEN NULL ELSE {order} END"
    said = {SEQ.name: event, GONE.name: f"CASE WHEN {gone} THEN {order} ELSE NULL END"}
    if scene.layout.sets_part:
        said[FIRST.name] = event
    if scene.layout.ignore_null_updates:
        for name in scene.layout.values:
            empty = f"{gone} OR {grammar.column('e', name)} IS NULL"
            said[of_column(name).name] = f"CASE WHEN {empty} THEN NULL ELSE {order} END"
    told = ", ".join(f"{value} AS {grammar.name(name)}" for name, value in said.items())
    known = ", ".join(grammar.sorting(grammar.column("q", name)) for name in said)
    listed = grammar.columns("u", keys)
    most = (
        f"{'MIN' if name == FIRST.name else 'MAX'}({grammar.sorting(grammar.column('u', name))})"
        for name in said
    )
    query = (
        f"SELECT {listed}, {', '.join(most)} FROM ("
        f"SELECT {grammar.columns('e', keys)}, {told} FROM {_events(scene)} AS e UNION ALL "
        f"SELECT {grammar.columns('q', keys)}, {known} FROM {scene.memory} AS q "
        f"JOIN {_given_keys(scene)} AS k ON {scene.matches('q', 'k')}"
        f"{_older_rows(scene, tuple(said))}) AS u GROUP BY {listed}"
    )
    return scene.work.fill(_ORDERS, (*keys, *said), query)


def _older_rows(scene: Scene, said: tuple[str, ...]) -> str:
    """Add the rows that are there and whose first event is unknown: it came before all others."""
    if not scene.layout.sets_part:
        return ""
    grammar, keys = scene.grammar, scene.layout.keys
    told = ", ".join("''" if name == FIRST.name else "NULL" for name in said)
    return (
        f" UNION ALL SELECT {grammar.columns('t', keys)}, {told} FROM {scene.target} AS t "
        f"JOIN {_given_keys(scene)} AS k ON {scene.matches('t', 'k')} "
        f"LEFT JOIN {scene.memory} AS q ON {scene.matches('q', 't')} "
        f"WHERE {grammar.column('q', FIRST.name)} IS NULL AND NOT {scene.is_marked('t')}"
    )


def _given_keys(scene: Scene) -> str:
    """Return the keys of the input, each once."""
    keys = scene.grammar.columns("s", scene.layout.keys)
    return f"(SELECT DISTINCT {keys} FROM {scene.staging} AS s)"


def _is_alive(scene: Scene) -> str:
    last, gone = (scene.grammar.column("o", each.name) for each in (SEQ, GONE))
    return f"({gone} IS NULL OR {scene.grammar.sorting(last)} > {scene.grammar.sorting(gone)})"


def _living(scene: Scene) -> Statement:
    """Note the row that each living key should have, where the input has a part in it."""
    oldest = ""
    # One event decides the row, unless each value has its own.
    join, decides, known = "JOIN", f" AND {_equal(scene, 'e', SEQ)}", ""
    if scene.layout.ignore_null_updates:
        # A late deletion alone may still empty values that are older than it.
        join, decides = "LEFT JOIN", ""
        known = f" AND ({scene.is_there('e')} OR {scene.is_there('t')})"
    if scene.layout.sets_part:
        oldest = (
            f" LEFT JOIN {scene.work.table(_OLDEST)} AS f "
            f"ON {scene.matches('f', 'o')} AND {_equal(scene, 'f', FIRST)}"
        )
        decides = ""
    chosen = ", ".join(_final(scene, name) for name in scene.layout.given)
    query = (
        f"SELECT CASE WHEN {scene.is_absent('t')} THEN 'insert' ELSE 'update' END, {chosen} "
        f"FROM {scene.work.table(_ORDERS)} AS o "
        f"{join} {scene.work.table(_NEWEST)} AS e ON {scene.matches('e', 'o')}{decides}{oldest} "
        f"LEFT JOIN {scene.target} AS t ON {scene.matches('t', 'o')} "
        f"WHERE {_is_alive(scene)}{known}"
    )
    return scene.note(scene.layout.given, query)


def _equal(scene: Scene, alias: str, order: Column) -> str:
    return f"{scene.grammar.column(alias, order.name)} = {scene.grammar.column('o', order.name)}"


def _final(scene: Scene, name: str) -> str:
    """Return the value that a living key's row should have."""
    grammar = scene.grammar
    event, there = grammar.column("e", name), grammar.column("t", name)
    if name in scene.layout.keys:
        return grammar.column("o", name)
    if scene.layout.ignore_null_updates:
        order = of_column(name)
        last, gone = grammar.column("o", order.name), grammar.column("o", GONE.name)
        is_ours = _equal(scene, "e", order)
        was_deleted = f"{grammar.sorting(last)} < {grammar.sorting(gone)}"
        # What was there before its order was kept stays, unless the key was deleted since.
        is_older = f"{gone} IS NULL AND NOT {scene.is_marked('t')}"
        return (
            f"CASE WHEN {last} IS NULL AND {is_older} THEN {there} "
            f"WHEN {last} IS NULL OR {was_deleted} THEN NULL "
            f"WHEN {is_ours} THEN {event} ELSE {there} END"
        )
    if scene.layout.sets_part:
        if name in scene.layout.update:
            return f"CASE WHEN {_equal(scene, 'e', SEQ)} THEN {event} ELSE {there} END"
        first = grammar.column("f", name)
        return f"CASE WHEN {scene.is_there('f')} THEN {first} ELSE {there} END"
    return event


def _unchanged(scene: Scene) -> Statement:
    """Forget the changes that change nothing."""
    # Here the changes are what is deleted from, `t`, and the target is `c`.
    stays = scene.outdated("c", "t", scene.layout.values)
    where = f"{scene.matches('t', 'c')} AND {scene.op('t', 'update')} AND NOT {stays}"
    return Statement(sql=scene.grammar.delete(scene.changes, scene.target, where))


def _dead(scene: Scene) -> Statement:
    """Note the rows of keys whose deletion is later than their last event."""
    grammar, keys = scene.grammar, scene.layout.keys
    query = (
        f"SELECT 'delete', {grammar.columns('t', keys)} FROM {scene.work.table(_ORDERS)} AS o "
        f"JOIN {scene.target} AS t ON {scene.matches('t', 'o')} "
        f"WHERE NOT COALESCE({_is_alive(scene)}, FALSE) AND NOT {scene.is_marked('t')}"
    )
    return scene.note(keys, query)


def _remembered(scene: Scene) -> tuple[Statement, ...]:
    """Bring the companion up to date."""
    grammar, orders = scene.grammar, scene.work.table(_ORDERS)
    names = [each.name for each in _kept(scene)]
    moved = grammar.any_of(
        [grammar.distinct(grammar.column("t", name), grammar.column("c", name)) for name in names]
    )
    where = f"{scene.matches('t', 'c')} AND {moved}"
    update = grammar.update(
        scene.memory, {name: grammar.column("c", name) for name in names}, orders, where
    )
    every = (*scene.layout.keys, *names)
    query = (
        f"SELECT {grammar.columns('c', every)} FROM {orders} AS c LEFT JOIN {scene.memory} AS q "
        f"ON {scene.matches('q', 'c')} WHERE {scene.is_absent('q')}"
    )
    statements = [Statement(sql=update), Statement(sql=grammar.insert(scene.memory, every, query))]
    if scene.is_snapshot:
        # A key that comes back is new: nothing of what it was may speak against it.
        gone = f"{scene.matches('t', 'c')} AND {scene.op('c', MISSING)}"
        statements.insert(0, Statement(sql=grammar.delete(scene.memory, scene.changes, gone)))
    return tuple(statements)
