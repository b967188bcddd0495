"""Rows whose key comes more than once, left out of a load: none of them can be preferred."""

from __future__ import annotations

from dataclasses import replace

from ematix_flow.sqltext.program.scene import Scene
from ematix_flow.sqltext.program.statement import Found, Program
from ematix_flow.sqltext.program.work import INPUT


def without_duplicates(program: Program, scene: Scene) -> Program:
    """Let *program* see the staged rows through a view that leaves such rows out."""
    grammar = scene.grammar
    staged = scene.work.table(INPUT)
    doubled = scene.duplicates(staged)
    names = [column.name for column in scene.layout.staging.columns]
    joined = f"JOIN ({doubled.sql}) AS d ON {grammar.same('d', 'i', scene.duplicate_key)}"
    kept = (
        f"SELECT {grammar.columns('i', names)} FROM {staged} AS i LEFT {joined} "
        f"WHERE {scene.is_absent('d')}"
    )
    given = scene.layout.given
    # In order, because they are fetched in parts.
    order = f"{grammar.columns('i', scene.layout.keys)}, {grammar.digest('i', scene.given)}"
    apart = f"SELECT {grammar.columns('i', given)} FROM {staged} AS i {joined} ORDER BY {order}"
    temporary = "" if grammar.is_mysql else "TEMP "
    drop = f"DROP VIEW IF EXISTS {scene.staging}"
    stale = (drop,) if grammar.is_mysql else ()
    return replace(
        program,
        staging=scene.work.name(INPUT),
        before=(*stale, f"CREATE {temporary}VIEW {scene.staging} AS {kept}", *program.before),
        duplicates=doubled,
        set_aside=Found(sql=apart),
        highest=scene.highest(staged),
        after=(drop, *program.after),
    )
