"""Declaring tables: `@ematix.table` on a class, or a subclass of `ManagedTable`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, TypeVar, overload

from ematix_flow._base.location import Location, caller_location
from ematix_flow._base.suggest import did_you_mean, nearest
from ematix_flow.connections.model import Connection
from ematix_flow.declare.columns import columns_of
from ematix_flow.declare.connections import name_of
from ematix_flow.declare.naming import snake_case
from ematix_flow.declare.project import active_project
from ematix_flow.declare.runner import runner_of
from ematix_flow.declare.values import choice
from ematix_flow.errors import DeclarationError
from ematix_flow.spec.modes import OnDrift
from ematix_flow.spec.table import Table, TableName

Class = TypeVar("Class", bound=type)

_SPEC = "__ematix_table__"
_PROJECT = "__ematix_project__"
DriftName = Literal["error", "warn", "evolve", "discard_value", "discard_row"]


@overload
def table(cls: Class, /) -> Class: ...
@overload
def table(
    *,
    name: str | None = None,
    schema: str | None = None,
    merge_keys: Sequence[str] = (),
    unique_constraints: Sequence[Sequence[str]] = (),
    partition_columns: Sequence[str] = (),
) -> Callable[[Class], Class]: ...
def table(
    cls: type | None = None,
    /,
    *,
    name: str | None = None,
    schema: str | None = None,
    merge_keys: Sequence[str] = (),
    unique_constraints: Sequence[Sequence[str]] = (),
    partition_columns: Sequence[str] = (),
    **unknown: object,
) -> Any:
    """Declare a table: annotations are its columns, the name is the class's in snake_case."""
    location = caller_location()
    _refuse_unknown(unknown, location)

    def declare(cls: Class) -> Class:
        return _declare(
            cls,
            location,
            name=name,
            schema=schema,
            merge_keys=merge_keys,
            unique_constraints=unique_constraints,
            partition_columns=partition_columns,
        )

    return declare if cls is None else declare(cls)


class ManagedTable:
    """A table as a class: annotations are columns, the dunder attributes what `table` takes."""

    __schema__: ClassVar[str | None] = None
    __tablename__: ClassVar[str | None] = None
    __merge_keys__: ClassVar[Sequence[str]] = ()
    __unique_constraints__: ClassVar[Sequence[Sequence[str]]] = ()
    __partition_columns__: ClassVar[Sequence[str]] = ()

    def __init_subclass__(cls) -> None:
        """Declare the subclass."""
        super().__init_subclass__()
        location = caller_location()
        _refuse_misspelt(cls, location)
        _declare(
            cls,
            location,
            name=cls.__tablename__,
            schema=cls.__schema__,
            merge_keys=cls.__merge_keys__,
            unique_constraints=cls.__unique_constraints__,
            partition_columns=cls.__partition_columns__,
        )

    @classmethod
    def ensure(
        cls, connection: str | Connection, *, on_drift: DriftName = "error"
    ) -> tuple[str, ...]:
        """Create the table, or bring it to its declaration; return the statements that were run."""
        return _ensure(cls, connection, on_drift=on_drift)


def table_of(value: object) -> Table | None:
    """Return the table that a class declares."""
    found = vars(value).get(_SPEC) if isinstance(value, type) else None
    return found if isinstance(found, Table) else None


def table_name(text: str, location: Location | str) -> TableName:
    """Read `orders` or `shop.orders` as a table's name."""
    schema, _, name = text.rpartition(".")
    if not name or (schema and "." in schema) or not text.strip():
        raise DeclarationError(
            f"{text!r} is no table's name", where=location, hint="write table or schema.table"
        )
    return TableName(name=_not_reserved(name, location), schema=schema or None)


def _declare(
    cls: Class,
    location: Location,
    *,
    name: str | None,
    schema: str | None,
    merge_keys: Sequence[str],
    unique_constraints: Sequence[Sequence[str]],
    partition_columns: Sequence[str],
) -> Class:
    given: tuple[tuple[str, object], ...] = (("name", name), ("schema", schema))
    for keyword, value in given:
        if value is not None and (not isinstance(value, str) or not value):
            raise DeclarationError(f"{keyword} takes a name, not {value!r}", where=location)
    columns = columns_of(cls, location)
    known = [column.name for column in columns]
    uniques = _tuple("unique_constraints", unique_constraints, location)
    spec = Table(
        name=TableName(
            name=_not_reserved(name or snake_case(cls.__name__), location), schema=schema
        ),
        columns=columns,
        location=location,
        merge_keys=_columns("merge_keys", merge_keys, known, cls, location),
        unique_constraints=tuple(
            _columns("unique_constraints", each, known, cls, location) for each in uniques
        ),
        partition_columns=_columns("partition_columns", partition_columns, known, cls, location),
    )
    project = active_project()
    project.add_table(spec)
    setattr(cls, _SPEC, spec)
    setattr(cls, _PROJECT, project)
    if not issubclass(cls, ManagedTable):
        cls.ensure = classmethod(_ensure)  # type: ignore[attr-defined]  # as ManagedTable has it
    return cls


def _ensure(
    cls: type, connection: str | Connection, *, on_drift: DriftName = "error"
) -> tuple[str, ...]:
    """Create the table in *connection*, or bring it to its declaration as *on_drift* allows.

    Returns the statements that were run: none where the table was as declared.
    """
    spec = table_of(cls)
    assert spec is not None
    try:
        policy, name = choice(OnDrift)(on_drift), name_of(connection)
    except ValueError as error:
        raise DeclarationError(f"ensure: {error}", where=caller_location()) from None
    return runner_of(getattr(cls, _PROJECT)).ensure(spec, name, policy)


def _tuple(keyword: str, value: object, location: Location) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise DeclarationError(f"{keyword} takes a list, not {value!r}", where=location)
    return tuple(value)


def _columns(
    keyword: str, value: object, known: list[str], cls: type, location: Location
) -> tuple[str, ...]:
    listed = (value,) if isinstance(value, str) else _tuple(keyword, value, location)
    for each in listed:
        if each not in known:
            raise DeclarationError(
                f"{keyword} of {cls.__name__} names {each!r}, which is no column"
                + did_you_mean(each, known)
                + f" (columns: {', '.join(known)})",
                where=location,
            )
    return tuple(listed)


_KEYWORDS = ("name", "schema", "merge_keys", "unique_constraints", "partition_columns")
_ATTRIBUTES = tuple(each for each in ManagedTable.__annotations__)


class _AnyClass:
    """What every class has of Python's own."""

    column: int


def _refuse_unknown(unknown: dict[str, object], location: Location) -> None:
    for keyword in unknown:
        raise DeclarationError(
            f"a table has no keyword {keyword!r}"
            + did_you_mean(keyword, _KEYWORDS)
            + f" (known: {', '.join(_KEYWORDS)})",
            where=location,
        )


def _refuse_misspelt(cls: type, location: Location) -> None:
    """Refuse `__merge_key__`: Python would keep it, and nobody would read it."""
    for attribute in vars(cls).keys() - vars(_AnyClass).keys() - set(_ATTRIBUTES):
        is_dunder = attribute.startswith("__") and attribute.endswith("__")
        if is_dunder and (guess := nearest(attribute, _ATTRIBUTES)):
            raise DeclarationError(
                f"{cls.__name__} has no attribute {attribute!r}; did you mean {guess!r}? "
                f"(known: {', '.join(_ATTRIBUTES)})",
                where=location,
            )


def _not_reserved(name: str, location: Location | str) -> str:
    if name.casefold().startswith("_flow_"):
        raise DeclarationError(
            f"{name!r} cannot name a table: names that begin with _flow_ are for the ledger, "
            "the fence and staging",
            where=location,
        )
    return name
