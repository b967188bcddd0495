"""The table that a frame is loaded into, where the user gives only its name.

Columns that the table already has keep their types and what they promise; for the others, and
for a table that is not there yet, the frame tells.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from ematix_flow._base.location import Location
from ematix_flow.declare.arrow_frames import library_of
from ematix_flow.errors import DeclarationError
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.arrow_type import declared_type
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import DATA_TYPES, DataType
from ematix_flow.sqltext.type_texts import read_type

if TYPE_CHECKING:
    import pyarrow as pa


def frame_table(
    frame: Any,
    name: TableName,
    *,
    actual: Sequence[ActualColumn] | None,
    dialect: str,
    keys: Collection[str] = (),
    location: Location,
) -> Table:
    """Return the table that holds *frame*.

    :param frame: A Spark frame or an Arrow table.
    :param actual: The columns that the table has; None where it does not exist.
    :param keys: The columns that match rows: of a table to come they are the primary key.
    """
    there = {each.name.casefold(): each for each in actual or ()}
    columns = []
    for column, kind, shown in _types(frame):
        match there.get(column.casefold()):
            case ActualColumn() as found if _known(read_type(found.type, dialect)):
                columns.append(_as_it_is(found, dialect))
            case _ if kind is not None:
                key = actual is None and column in keys
                columns.append(Column(name=column, type=kind, nullable=not key, primary_key=key))
            case _:
                raise DeclarationError(
                    f"column {column!r} of the frame is {shown}, and {name} has no such column "
                    "to tell its type",
                    where=location,
                    hint="cast it in the frame, or declare the table with @ematix.table",
                )
    return Table(name=name, columns=tuple(columns), location=location)


def _types(frame: Any) -> list[tuple[str, DataType | None, str]]:
    """Return name, declared type and shown type of each column."""
    if library_of(frame) == "pyspark":
        texts = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
        return [(name, _known(read_type(text, "spark")), text) for name, text in texts]
    schema: pa.Schema = frame.schema
    return [(field.name, declared_type(field.type), str(field.type)) for field in schema]


def _as_it_is(found: ActualColumn, dialect: str) -> Column:
    kind = _known(read_type(found.type, dialect))
    assert kind is not None
    return Column(
        name=found.name,
        type=kind,
        nullable=found.nullable,
        primary_key=bool(found.primary_key),
    )


def _known(kind: DataType | None) -> DataType | None:
    return kind if isinstance(kind, DATA_TYPES) else None
