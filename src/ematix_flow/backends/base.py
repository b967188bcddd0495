"""What backends share: refusing to be a target, and naming a missing driver."""

from __future__ import annotations

from typing import NoReturn

from ematix_flow.errors import EngineError, NotSupported
from ematix_flow.ports import Target
from ematix_flow.spec.capability import Capabilities


class ReadOnlyBackend:
    """A kind that cannot be a target yet."""

    capabilities: Capabilities

    def target(self, connection: object) -> Target:
        """Refuse: `plan` never lets a run come here."""
        del connection
        raise NotSupported(f"{self.capabilities.kind} cannot be written yet")


def missing_driver(kind: str, package: str, error: ImportError) -> NoReturn:
    """Say which extra to install."""
    raise EngineError(
        f"{kind} needs the package {package!r}, which is not installed",
        hint=f"pip install 'ematix-flow[{kind}]'",
    ) from error
