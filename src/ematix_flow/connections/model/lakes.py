"""Table formats over files: Delta and Iceberg."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from ematix_flow.connections.model.files import PathConnection
from ematix_flow.connections.model.property import prop
from ematix_flow.connections.model.settings import NO_SETTINGS


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DeltaConnection(PathConnection):
    """Delta tables: the folders of a path, or the tables of a catalog."""

    kind = "delta"
    schemes = ("delta",)
    requires: ClassVar[tuple[str, ...]] = ()

    catalog: str | None = prop(None, "A catalog that Spark knows, instead of a path")
    schema: str | None = prop(None, "The schema of names without one, with a catalog")
    properties: Mapping[str, str] = prop(NO_SETTINGS, "Further settings of the catalog or store")

    def _check(self) -> None:
        if self.url is None and not self.path and not self.catalog:
            raise self._wrong("it lacks path or catalog")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class IcebergConnection(PathConnection):
    """Iceberg tables of a catalog; the path is the catalog's warehouse."""

    kind = "iceberg"
    schemes = ("iceberg",)
    requires: ClassVar[tuple[str, ...]] = ()
    aliases: ClassVar[Mapping[str, str]] = {"warehouse": "path"}

    catalog: str = prop("iceberg", "How SQL calls the catalog")
    catalog_type: Literal["hadoop", "rest", "hive", "glue", "jdbc", "nessie"] = prop(
        "hadoop", "What keeps the catalog"
    )
    uri: str | None = prop(None, "The catalog's address, where it is a server")
    schema: str | None = prop(None, "The namespace of names without one")
    credential: str | None = prop(None, "`client:secret` for a REST catalog", secret=True)
    token: str | None = prop(None, "A token for a REST catalog", secret=True)
    properties: Mapping[str, str] = prop(NO_SETTINGS, "Further properties of the catalog")

    def _check(self) -> None:
        if self.url is not None:
            return
        if self.catalog_type == "hadoop" and not self.path:
            raise self._wrong("it lacks path, where a hadoop catalog keeps its tables")
        if self.catalog_type in ("rest", "hive", "jdbc", "nessie") and not self.uri:
            raise self._wrong(f"it lacks uri, the address of its {self.catalog_type} catalog")
