"""append and truncate: rows are added, or replace all that are there."""

from __future__ import annotations

from ematix_flow.spec.table import Column
from ematix_flow.sqltext.program.scene import Scene
from ematix_flow.sqltext.program.statement import Effect, Program, Statement


def append(scene: Scene) -> Program:
    """Add every staged row; with `known_rows`, those that are not there yet."""
    knows = scene.layout.known_rows
    query = _known_left_out(scene) if knows else _all_of(scene)
    return scene.program(applies=(_insert(scene, query),), takes_all=not knows)


def truncate(scene: Scene) -> Program:
    """Replace all rows."""
    # DELETE, not TRUNCATE: it belongs to the transaction, so no reader sees an empty table.
    delete = Statement(sql=f"DELETE FROM {scene.target}", effect=Effect.DELETED)
    return scene.program(applies=(delete, _insert(scene, _all_of(scene))), takes_all=True)


def _insert(scene: Scene, query: str) -> Statement:
    names = (*scene.layout.given, *scene.audit)
    return Statement(sql=scene.grammar.insert(scene.target, names, query), effect=Effect.INSERTED)


def _chosen(scene: Scene, alias: str) -> str:
    columns = [scene.grammar.column(alias, name) for name in scene.layout.given]
    return ", ".join((*columns, *scene.audit.values()))


def _all_of(scene: Scene) -> str:
    return f"SELECT {_chosen(scene, 's')} FROM {scene.staging} AS s"


def _known_left_out(scene: Scene) -> str:
    if scene.layout.keys:
        return (
            f"{_all_of(scene)} LEFT JOIN {scene.target} AS t ON {scene.matches('t', 's')} "
            f"WHERE {scene.is_absent('t')}"
        )
    # Without a key a row is known by all it says; of equal rows, as many stay as there are more.
    grammar, names = scene.grammar, scene.layout.given
    number = grammar.name("_flow_number")

    def counted(table: str, alias: str) -> str:
        all_columns = grammar.columns(alias, names)
        comparable = ", ".join(
            grammar.comparable(grammar.column(alias, each.name), each.type) for each in scene.given
        )
        return (
            f"(SELECT {all_columns}, ROW_NUMBER() OVER (PARTITION BY {comparable} "
            f"ORDER BY {comparable}) AS {number} FROM {table} AS {alias})"
        )

    same = grammar.all_of([_equal(scene, column) for column in scene.given])
    return (
        f"SELECT {_chosen(scene, 's')} FROM {counted(scene.staging, 's')} AS s "
        f"WHERE NOT EXISTS (SELECT 1 FROM {counted(scene.target, 't')} AS t "
        f"WHERE t.{number} = s.{number} AND {same})"
    )


def _equal(scene: Scene, column: Column) -> str:
    """Say that a value is the same; plainly where it is never NULL, so that rows can be hashed."""
    grammar = scene.grammar
    if column.nullable:
        return f"NOT ({grammar.differs('t', 's', column)})"
    mine, theirs = (
        grammar.comparable(grammar.column(each, column.name), column.type) for each in ("t", "s")
    )
    return f"{mine} = {theirs}"
