"""The types in `@udf` and `@udaf`, checked where they are declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ematix_flow._base.location import Location
from ematix_flow._base.suggest import nearest
from ematix_flow.errors import DeclarationError
from ematix_flow.spec.types import DATA_TYPES, DataType, from_annotation

_NAMES = tuple(kind.__name__ for kind in DATA_TYPES)


def types_of(keyword: str, given: object, what: str, location: Location) -> tuple[DataType, ...]:
    """Return the types in *given*, a list of at least one."""
    if isinstance(given, list | tuple) and given:
        return tuple(
            typed(each, f"{keyword}[{number}] of {what}", location)
            for number, each in enumerate(given)
        )
    raise DeclarationError(
        f"{what}: {keyword} takes a list of at least one type, not {given!r}",
        where=location,
        hint=f"for example {keyword}=[Text, Numeric[10, 2]]",
    )


def state_types(given: object, what: str, location: Location) -> tuple[tuple[str, DataType], ...]:
    """Return the fields of an aggregate's state; a plain list gets numbered names."""
    if isinstance(given, Mapping) and given:
        return tuple(
            (str(name), typed(kind, f"state {name!r} of {what}", location))
            for name, kind in given.items()
        )
    found = types_of("state", given, what, location)
    return tuple((f"state_{number}", kind) for number, kind in enumerate(found))


def typed(given: Any, what: str, location: Location) -> DataType:
    """Return *given* as a type; anything else is an error."""
    try:
        found = from_annotation(given)
        problem = f"{_spelt(given)} is not a type"
    except (TypeError, ValueError) as error:
        found, problem = None, str(error)
    if found is None:
        guess = nearest(_spelt(given), _NAMES)
        raise DeclarationError(
            f"{what}: {problem}" + (f"; did you mean {guess}?" if guess else ""),
            where=location,
            hint=f"the types are {', '.join(_NAMES)}, importable from ematix_flow",
        )
    kind, nullable = found
    if nullable:
        raise DeclarationError(
            f"{what}: {kind} | None says nothing here, any value of a UDF may be NULL",
            where=location,
            hint=f"write {kind}",
        )
    return kind


def _spelt(given: object) -> str:
    return given.__name__ if isinstance(given, type) else str(given)
