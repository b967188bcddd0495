"""What `flow secrets test` tells: each reference, where it leads, whether it gets there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ematix_flow.connections.load import Connections
from ematix_flow.connections.model import Connection
from ematix_flow.connections.model.settings import Settings
from ematix_flow.connections.reference import masked_default, references
from ematix_flow.connections.secrets import SecretResolver
from ematix_flow.errors import FlowError


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceAudit:
    """One reference of a connection; never its value."""

    connection: str
    key: str
    reference: str
    source: str | None = None
    error: FlowError | None = None

    @property
    def ok(self) -> bool:
        """Whether it could be resolved."""
        return self.error is None

    def to_json(self) -> dict[str, object]:
        """Return it as data."""
        return {
            "connection": self.connection,
            "property": self.key,
            "reference": self.reference,
            "ok": self.ok,
            "source": self.source,
            "error": self.error.to_json() if self.error else None,
        }


def audit(connections: Connections, names: Sequence[str] = ()) -> list[ReferenceAudit]:
    """Resolve every reference of the connections (none named: all)."""
    found: list[ReferenceAudit] = []
    for name in names or connections.names():
        try:
            connection = connections[name]
        except FlowError as error:
            if name in names:
                raise
            found.append(ReferenceAudit(connection=name, key="", reference="", error=error))
            continue
        found += _audited(connection, connections.secrets)
    return found


def _audited(connection: Connection, secrets: SecretResolver) -> Iterator[ReferenceAudit]:
    for key, text in _texts(connection):
        for body in references(text):
            source, failure = None, None
            try:
                source = secrets.fetch(body).source
            except FlowError as error:
                failure = error
            yield ReferenceAudit(
                connection=connection.name,
                key=key,
                reference=masked_default(f"${{{body}}}"),
                source=source,
                error=failure,
            )


def _texts(connection: Connection) -> Iterator[tuple[str, str]]:
    for each, value in connection.config_values():
        if isinstance(value, str):
            yield each.name, value
        elif isinstance(value, Settings):
            yield from ((f"{each.name}.{key}", text) for key, text in value.items())
