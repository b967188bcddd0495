"""The columns of a query's result, found by name without regard to case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ematix_flow._base.location import Location
from ematix_flow.errors import UnknownName


class Offered:
    """What a query returns, and what the target calls it.

    :ivar renamed: The name in the target, by the query's own.
    """

    def __init__(
        self, names: Sequence[str], column_map: Iterable[tuple[str, str]], location: Location
    ) -> None:
        self._location = location
        self._names = {name.casefold(): name for name in names}
        mapped = {self.own(old, "column_map"): new for old, new in column_map}
        self.renamed = {name: mapped.get(name, name) for name in names}

    def own(self, name: str, asker: str) -> str:
        """Return how the query spells *name*."""
        found = self._names.get(name.casefold())
        if found is None:
            raise self._unknown(name, asker)
        return found

    def either(self, name: str, asker: str) -> str:
        """Return how the query spells *name*, which may also be the target's name for it."""
        by_target = {new.casefold(): old for old, new in self.renamed.items()}
        found = by_target.get(name.casefold()) or self._names.get(name.casefold())
        if found is None:
            raise self._unknown(name, asker)
        return found

    def _unknown(self, name: str, asker: str) -> UnknownName:
        return UnknownName.among(
            f"column in {asker}:",
            name,
            self._names.values(),
            where=self._location,
            hint="name a column that the query returns",
        )
