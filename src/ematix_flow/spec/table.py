"""A declared table."""

from __future__ import annotations

from dataclasses import dataclass

from ematix_flow._base.location import Location
from ematix_flow.spec.normalize.marker import Marker
from ematix_flow.spec.types import DataType


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column and what it promises."""

    name: str
    type: DataType
    nullable: bool = False
    primary_key: bool = False
    natural_key: bool = False
    markers: tuple[Marker, ...] = ()

    @property
    def bare(self) -> Column:
        """The column as a place for values alone: it promises nothing and cleans nothing."""
        return Column(name=self.name, type=self.type, nullable=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableName:
    """A table's name, with its schema where the database has schemas."""

    name: str
    schema: str | None = None

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as declared: name, columns in order, and the line that declares it.

    :param merge_keys: The columns that match rows, where the class says so itself.
    """

    name: TableName
    columns: tuple[Column, ...]
    location: Location
    merge_keys: tuple[str, ...] = ()
    unique_constraints: tuple[tuple[str, ...], ...] = ()
    partition_columns: tuple[str, ...] = ()

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns that name a row to a person: natural key, primary key, else merge keys."""
        return self.natural_key or self.primary_key or self.merge_keys

    @property
    def natural_key(self) -> tuple[str, ...]:
        """The columns that the business knows a row by."""
        return tuple(column.name for column in self.columns if column.natural_key)

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The columns that identify a row."""
        return tuple(column.name for column in self.columns if column.primary_key)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of all columns, in order."""
        return tuple(column.name for column in self.columns)
