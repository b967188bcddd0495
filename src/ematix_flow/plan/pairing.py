"""Which backend reads, which one writes, and whether each can do what is asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ematix_flow.connections.kinds import comes_later
from ematix_flow.connections.load import Connections
from ematix_flow.connections.model import KINDS
from ematix_flow.errors import NotSupported, PlanError
from ematix_flow.resolve.query import Place
from ematix_flow.spec.capability import Capabilities, Capability, Support
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.pipeline import Pipeline, TargetSpec

# On Spark; the dialect of every query over files.
SPARK = "spark"
# All that plain files offer.
_GROWING = (Capability.APPEND, Capability.TRUNCATE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backends:
    """What the installed backends can do, asked by connection."""

    connections: Connections
    capabilities: Mapping[str, Capabilities]

    def of(self, connection: str) -> Capabilities:
        """Return what the backend of a connection can do."""
        kind = self.connections[connection].kind
        if kind in self.capabilities:
            return self.capabilities[kind]
        if kind in KINDS:
            later = comes_later(kind)
            raise NotSupported(f"connection {connection!r}: {later.what}", hint=later.hint)
        raise PlanError(
            f"no backend is installed for kind {kind!r} "
            f"(installed: {', '.join(sorted(self.capabilities))})",
            hint="install the package that provides it",
        )

    def place_of(self, connection: str) -> Place:
        """Return where the queries of a connection run."""
        can = self.of(connection)
        in_source = can.has(Capability.READ_QUERY)
        return Place(kind=can.kind, dialect=can.dialect if in_source else SPARK)

    def dialect_of(self, connection: str) -> str:
        """Return the SQL that a connection speaks itself."""
        return self.of(connection).dialect

    def require_mode(self, pipeline: Pipeline) -> Capabilities:
        """Return what the (first) target can do; a mode that one can never have is an error."""
        for other in pipeline.targets[1:]:
            self._require(pipeline, other)
        return self._require(pipeline, pipeline.target)

    def _require(self, pipeline: Pipeline, target: TargetSpec) -> Capabilities:
        can = self.of(target.connection)
        mode = target.write.mode
        if can[Capability(mode.value)] is Support.UNSUPPORTED:
            raise NotSupported(
                f"pipeline {pipeline.name!r} asks {can.kind} for {mode.value}, but it cannot",
                where=pipeline.location,
                hint=_instead(can, mode),
            )
        if not any(can[each] is Support.FULL for each in _MODES):
            raise NotSupported(
                f"pipeline {pipeline.name!r} asks {can.kind} for {mode.value}, "
                "but that is not built yet",
                where=pipeline.location,
            )
        return can


_MODES = tuple(Capability(mode.value) for mode in Mode)


def _instead(can: Capabilities, mode: Mode) -> str:
    modes = tuple(each for each in _MODES if can[each] is not Support.UNSUPPORTED)
    if not modes:
        return f"{can.kind} cannot be written"
    if modes == _GROWING and mode.needs_key:
        return f"plain files only grow or are replaced: for {mode.value} use delta or iceberg"
    return f"{can.kind} can: {', '.join(each.value for each in modes)}"
