"""What is declared and checked, but not carried out by this version yet.

Running such a pipeline would ignore a wish of its author's, so it is refused; planning it shows
everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ematix_flow.spec.capability import Capabilities, Capability, Support
from ematix_flow.spec.pipeline import Pipeline


def blockers(pipeline: Pipeline, can: Callable[[str], Capabilities]) -> tuple[str, ...]:
    """Return what stands between this pipeline and a run.

    :param can: What the backend of a connection can do.
    """
    return tuple(_blockers(pipeline, can))


def _blockers(pipeline: Pipeline, can: Callable[[str], Capabilities]) -> Iterator[str]:
    for target in pipeline.targets:
        mode, backend = Capability(target.write.mode.value), can(target.connection)
        if backend[mode] is Support.NOT_IMPLEMENTED:
            yield f"mode {mode.value} into {backend.kind} is not built yet"
    if pipeline.quality.expectations:
        yield "expectations are not built yet"
