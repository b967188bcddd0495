"""What a run needs and this Python lacks: looked for, never imported."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ematix_flow.api.engines import Engines
from ematix_flow.backends.failure import missing_drivers
from ematix_flow.engine.host.installed import missing_engine
from ematix_flow.plan.pairing import Backends
from ematix_flow.spec.modes import Path


class Installation:
    """The packages of drivers and engines; each is looked for once."""

    def __init__(self, backends: Backends, engines: Engines) -> None:
        self._engines = engines
        self._drivers = cache(lambda name, *more: missing_drivers(backends.of(name), *more))
        self._engine = cache(missing_engine)

    def lacks(self, pipeline: str, path: Path, connections: Iterable[str]) -> tuple[str, ...]:
        """Return what a run on *path* would miss, each with the extra that brings it."""
        carried = ("pyarrow",) if path is Path.DIRECT else ()
        found = [self._drivers(name, *carried) for name in connections]
        if path.needs_engine and self._engines.session is None:
            found.append(self._engine(self._engines.choice(pipeline).kind))
        return tuple(dict.fromkeys(f"{each.what}: {each.hint}" for each in found if each))
