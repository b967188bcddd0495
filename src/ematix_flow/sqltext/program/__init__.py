"""The write program of each mode: SQL over the staged rows and the target.

Every mode computes one relation, the changes, from the two, and then applies it. The
statements are written once; `grammar` says what a database says differently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ematix_flow.spec.layout import Layout
from ematix_flow.spec.modes import Mode, OnDuplicateKeys
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.program.companion import companion_name
from ematix_flow.sqltext.program.event_history import event_history
from ematix_flow.sqltext.program.grammar import Grammar
from ematix_flow.sqltext.program.merge import merge
from ematix_flow.sqltext.program.ordered_merge import ordered_merge
from ematix_flow.sqltext.program.plain import append, truncate
from ematix_flow.sqltext.program.scene import Scene
from ematix_flow.sqltext.program.set_aside import without_duplicates
from ematix_flow.sqltext.program.snapshot_history import snapshot_history
from ematix_flow.sqltext.program.statement import Effect, Found, Guard, Program, Statement
from ematix_flow.sqltext.program.work import STAGING, Work, owner_of

__all__ = ["STAGING", "Effect", "Found", "Guard", "Program", "Statement", "write_program"]


def write_program(
    layout: Layout,
    name: TableName,
    dialect: str,
    *,
    pipeline: str,
    dry: bool = False,
    stand_ins: Mapping[TableName, TableName] | None = None,
) -> Program:
    """Return how staged rows are applied to the target *name*.

    :param dry: Whether it is for a dry run.
    :param stand_ins: What is written instead of the target or its companion then.
    """
    grammar, stand_ins = Grammar(dialect), stand_ins or {}
    companion = companion_name(name)
    scene = Scene(
        layout=layout,
        name=stand_ins.get(name, name),
        companion=stand_ins.get(companion, companion) if layout.order else None,
        grammar=grammar,
        work=Work(grammar, owner_of(pipeline, name), dry),
    )
    program = _program(scene)
    if program.duplicates is not None and layout.on_duplicate_keys is OnDuplicateKeys.QUARANTINE:
        program = without_duplicates(program, scene)
    return replace(program, computes=scene.work.counted(program.computes))


def _program(scene: Scene) -> Program:
    layout = scene.layout
    match layout.mode:
        case Mode.APPEND:
            return append(scene)
        case Mode.TRUNCATE:
            return truncate(scene)
        case Mode.MERGE | Mode.SCD1:
            return ordered_merge(scene) if layout.order else merge(scene)
        case Mode.SCD2:
            return event_history(scene) if layout.order else snapshot_history(scene)
