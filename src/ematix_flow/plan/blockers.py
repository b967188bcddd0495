"""What is declared and checked, but not carried out by this version yet.

Running such a pipeline would ignore a wish of its author's, so it is refused; planning it shows
everything else.
"""

from __future__ import annotations

from collections.abc import Iterator

from ematix_flow.spec.capability import Capabilities, Capability, Support
from ematix_flow.spec.modes import OnDrift, Path
from ematix_flow.spec.pipeline import Pipeline

_DISCARDS = (OnDrift.DISCARD_VALUE, OnDrift.DISCARD_ROW)


def blockers(pipeline: Pipeline, target: Capabilities) -> tuple[str, ...]:
    """Return what stands between this pipeline and a run."""
    return tuple(_blockers(pipeline, target))


def _blockers(pipeline: Pipeline, target: Capabilities) -> Iterator[str]:
    mode = Capability(pipeline.mode.value)
    if target[mode] is Support.NOT_IMPLEMENTED:
        yield f"mode {mode.value} into {target.kind} is not built yet"
    if len(pipeline.targets) > 1:
        yield "several targets are not built yet"
    write, read = pipeline.target.write, pipeline.read
    for built, what in (
        (not read.incremental_column, "incremental_column"),
        (not write.column_map, "column_map"),
        (not pipeline.transforms_pre, "transforms_pre"),
        (not pipeline.transforms_post, "transforms_post"),
        (not pipeline.quality.expectations, "expectations"),
        (pipeline.force_path is not Path.IN_DATABASE, "force_path='in_database'"),
        (write.on_drift not in _DISCARDS, f"on_drift={write.on_drift.value!r}"),
    ):
        if not built:
            yield f"{what} is not built yet"
