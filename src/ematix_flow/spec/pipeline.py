"""A declared pipeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ematix_flow._base.location import Location
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """One source query into one target table.

    :param function: The user's function; called at plan time, it returns the query.
    :param source_table: Read this table whole, instead of what the function returns.
    """

    name: str
    target: Table
    mode: Mode
    source_connection: str
    target_connection: str
    function: Callable[..., object]
    location: Location
    source_table: str | None = None
    depends_on: tuple[str, ...] = ()
    engine: str | None = None
    tags: tuple[str, ...] = ()
    description: str = ""
