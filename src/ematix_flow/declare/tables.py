"""Declaring tables: `@ematix.table` on a class, or a subclass of `ManagedTable`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypedDict, TypeVar, Unpack, overload

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


class TableKeywords(TypedDict, total=False):
    """Everything `ematix.table` takes."""

    name: str | None
    schema: str | None
    merge_keys: Sequence[str]
    unique_constraints: Sequence[Sequence[str]]
    partition_columns: Sequence[str]


@overload
def table(cls: Class, /) -> Class: ...
@overload
def table(**keywords: Unpack[TableKeywords]) -> Callable[[Class], Class]: ...
def table(cls: type | None = None, /, **keywords: Any) -> Any:
    """Declare a table: annotations are its columns, the name is the class's in snake_case."""
    location = caller_location()
    _refuse_unknown(keywords, location)

    def declare(cls: Class) -> Class:
        return _declare(cls, location, **keywords)

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


def _declare(cls: Class, location: Location, **keywords: Unpack[TableKeywords]) -> Class:
    name = _optional_name("name", keywords.get("name"), location)
    schema = _optional_name("schema", keywords.get("schema"), location)
    columns = columns_of(cls, location)
    known = [column.name for column in columns]

    def named(keyword: str, value: object) -> tuple[str, ...]:
        return _columns(keyword, value, known, cls, location)

    uniques = _tuple("unique_constraints", keywords.get("unique_constraints", ()), location)
    spec = Table(
        name=TableName(
            name=_not_reserved(name or snake_case(cls.__name__), location), schema=schema
        ),
        columns=columns,
        location=location,
        merge_keys=named("merge_keys", keywords.get("merge_keys", ())),
        unique_constraints=tuple(named("unique_constraints", each) for each in uniques),
        partition_columns=named("partition_columns", keywords.get("partition_columns", ())),
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


def _optional_name(keyword: str, value: object, location: Location) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    raise DeclarationError(f"{keyword} takes a name, not {value!r}", where=location)


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


_KEYWORDS = tuple(TableKeywords.__annotations__)
_ATTRIBUTES = tuple(ManagedTable.__annotations__)


class _AnyClass:
    """What every class has of Python's own."""

    column: int


def _refuse_unknown(keywords: Mapping[str, object], location: Location) -> None:
    if unknown := next((each for each in keywords if each not in _KEYWORDS), None):
        raise DeclarationError(
            f"a table has no keyword {unknown!r}"
            + did_you_mean(unknown, _KEYWORDS)
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
            hint="choose another name",
        )
    return name
