"""A class body becomes columns."""

from __future__ import annotations

import inspect
import typing
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from ematix_flow._base.location import Location
from ematix_flow.declare.markers import check_markers
from ematix_flow.errors import DeclarationError, located
from ematix_flow.spec.normalize import FACTORIES, Marker
from ematix_flow.spec.table import Column
from ematix_flow.spec.types import DATA_TYPES, DataType, from_annotation

_KNOWN_TYPES = (
    f"the types are {', '.join(kind.__name__ for kind in DATA_TYPES)}, importable from ematix_flow"
)
_KNOWN_MARKERS = ("pk", "natural_key", "nullable", *FACTORIES)


@dataclass(frozen=True, slots=True)
class ColumnMark:
    """Something `Annotated` says about a column beyond its type."""

    meaning: str


def pk() -> ColumnMark:
    """Mark a column as (part of) the primary key."""
    return ColumnMark("primary_key")


def natural_key() -> ColumnMark:
    """Mark a column as (part of) the key the business knows."""
    return ColumnMark("natural_key")


def nullable() -> ColumnMark:
    """Let a column be NULL; the same as `| None`."""
    return ColumnMark("nullable")


def columns_of(cls: type, location: Location) -> tuple[Column, ...]:
    """Return the columns that the annotations of *cls* declare."""
    _refuse_other_decorators(cls, location)
    try:
        # A marker in a postponed annotation is called here, and has no line of its own.
        with located(location):
            hints = typing.get_type_hints(cls, include_extras=True)
    except (NameError, TypeError, ValueError, AttributeError) as error:
        raise DeclarationError(
            f"the annotations of {cls.__name__} cannot be read: {error}",
            where=location,
            hint=_KNOWN_TYPES,
        ) from error
    columns = tuple(
        _column(name, hint, cls.__name__, location)
        for name, hint in hints.items()
        if not name.startswith("__")
    )
    if not columns:
        raise DeclarationError(
            f"table {cls.__name__} declares no columns",
            where=location,
            hint="annotate them: `order_id: Annotated[BigInt, pk()]`",
        )
    refuse_names(columns, cls.__name__, location)
    check_markers(columns, cls.__name__, location)
    return columns


def refuse_names(columns: tuple[Column, ...], table: str, location: Location) -> None:
    """Refuse names that an engine, or we ourselves, would take for another column."""
    seen: dict[str, str] = {}
    for column in columns:
        other = seen.setdefault(column.name.casefold(), column.name)
        if other != column.name:
            raise DeclarationError(
                f"columns {other!r} and {column.name!r} of {table} differ only in case, "
                "which Spark and most databases do not tell apart",
                where=location,
                hint="rename one of them",
            )
        if column.name.casefold().startswith("_flow_"):
            raise DeclarationError(
                f"{column.name!r} cannot name a column of {table}: names that begin with _flow_ "
                "are for staging and quarantine",
                where=location,
                hint="rename it, and alias it in the query",
            )


def _column(name: str, hint: Any, table: str, location: Location) -> Column:
    annotation: Any = hint
    marks: tuple[object, ...] = ()
    if get_origin(hint) is Annotated:
        annotation, *found = get_args(hint)
        marks = tuple(found)
    typed = _typed(annotation, name, table, location)
    for mark in marks:
        if not isinstance(mark, ColumnMark | Marker):
            raise DeclarationError(
                f"column {name!r} of {table} is annotated with {_shown(mark)}, which marks nothing "
                f"(known: {', '.join(f'{each}()' for each in _KNOWN_MARKERS)})",
                where=location,
                hint=f"call the marker: {mark.__name__}()" if inspect.isfunction(mark) else None,
            )
    meanings = {mark.meaning for mark in marks if isinstance(mark, ColumnMark)}
    may_be_null = typed[1] or "nullable" in meanings
    if may_be_null and "primary_key" in meanings:
        raise DeclarationError(
            f"column {name!r} of {table} is pk() and nullable, but a primary key is never NULL",
            where=location,
            hint="drop `| None` or nullable(), or mark it natural_key()",
        )
    return Column(
        name=name,
        type=typed[0],
        nullable=may_be_null,
        primary_key="primary_key" in meanings,
        natural_key="natural_key" in meanings,
        markers=tuple(mark for mark in marks if isinstance(mark, Marker)),
    )


def _typed(annotation: Any, name: str, table: str, location: Location) -> tuple[DataType, bool]:
    try:
        found = from_annotation(annotation)
        problem = "" if found else f"{_spelt(annotation)} is not a column type"
    except (TypeError, ValueError) as error:
        found, problem = None, str(error)
    if found is None:
        raise DeclarationError(
            f"column {name!r} of {table}: {problem}",
            where=location,
            hint=_KNOWN_TYPES,
        )
    return found


def _shown(mark: object) -> str:
    return mark.__name__ if inspect.isfunction(mark) else repr(mark)


def _spelt(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _refuse_other_decorators(cls: type, location: Location) -> None:
    for attribute, library in (
        ("__dataclass_fields__", "dataclasses"),
        ("__attrs_attrs__", "attrs"),
        ("__pydantic_fields__", "pydantic"),
    ):
        if attribute in vars(cls):
            raise DeclarationError(
                f"{cls.__name__} is already a {library} class; a table describes columns, "
                "its instances are rows in a database, so the two cannot be one class",
                where=location,
                hint=f"declare the table as a class of its own, without {library}",
            )
