"""The query's rows with the target's names, cleaned by its markers: still as they were given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ematix_flow._base.location import Location
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.carried import foreign_order
from ematix_flow.spec.layout import CURSOR, DELETED, Layout
from ematix_flow.spec.normalize.chain import chain
from ematix_flow.spec.normalize.expression import derives
from ematix_flow.spec.normalize.family import Family, family_of
from ematix_flow.spec.offered import Offered
from ematix_flow.spec.result import match_columns
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import BigInt, Boolean, DataType, Integer, SmallInt, String, Text
from ematix_flow.sqltext.conditions import columns_in
from ematix_flow.sqltext.dialect_names import grammar_of
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.in_database.condition import Known, proven_condition
from ematix_flow.sqltext.in_database.unproven import Unproven
from ematix_flow.sqltext.in_database.value import WideInteger
from ematix_flow.sqltext.markers import needs_spark, projections, rendered
from ematix_flow.sqltext.sqlite_types import meaning_in_sqlite
from ematix_flow.sqltext.type_texts import AnyNumeric, read_type

_SOURCE = "_flow_source"
_WIDE = ("HUGEINT", "UBIGINT", "INT128", "UINT128", "UHUGEINT")

Describe = Callable[[str], tuple[ActualColumn, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a target wants of a query that its own database runs.

    :param table: The columns that the query gives, with their markers.
    :param column_map: The query's names -> the target's.
    :param deletes: The condition on a row of the query that makes it a deletion.
    :param cursor: The incremental column.
    :param kept: Conditions on the rows of the query; the others are left out.
    :param known: What columns of the query are, where more is known than the database tells.
    """

    query: str
    dialect: str
    layout: Layout
    table: Table
    location: Location
    column_map: tuple[tuple[str, str], ...] = ()
    deletes: str | None = None
    cursor: str | None = None
    kept: tuple[str, ...] = ()
    known: Mapping[str, DataType] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GivenRows:
    """A query, and what its columns are."""

    sql: str
    kinds: Mapping[str, DataType | None]


def given_rows(wanted: Wanted, described: Sequence[ActualColumn], describe: Describe) -> GivenRows:
    """Return the rows of the query under the target's names, with what is carried beside them."""
    renamed = _Renaming(wanted, described).rows()
    if not any(column.markers for column in wanted.table.columns):
        return renamed
    return _cleaned(wanted, renamed, describe)


def kind_of(column: ActualColumn, dialect: str) -> DataType | None:
    """Return what a column of a query is; None where none of our types is."""
    if dialect == "sqlite":
        return meaning_in_sqlite(column.type)
    if dialect == "duckdb" and column.type in _WIDE:
        return WideInteger()
    return read_type(column.type, dialect)


class _Renaming:
    def __init__(self, wanted: Wanted, described: Sequence[ActualColumn]) -> None:
        self.wanted = wanted
        self.offered = Offered(
            [each.name for each in described], wanted.column_map, wanted.location
        )
        told = {each.name: kind_of(each, wanted.dialect) for each in described}
        self.kinds = {**told, **wanted.known}

    def rows(self) -> GivenRows:
        wanted = self.wanted
        carried = self._carried()
        outputs = {name: self._quoted(theirs) for name, theirs in self._declared().items()}
        kinds = {name: self.kinds[theirs] for name, theirs in self._declared().items()}
        for name, theirs in carried.items():
            outputs[name], kinds[name] = self._quoted(theirs), self.kinds[theirs]
        if wanted.deletes is not None:
            # As the query returns the rows, before a marker changes them; NULL deletes nothing.
            outputs[DELETED] = f"COALESCE({self._proven(wanted.deletes)}, FALSE)"
            kinds[DELETED] = Boolean()
        listed = ", ".join(f"{sql} AS {self._quoted(name)}" for name, sql in outputs.items())
        kept = " AND ".join(self._proven(each) for each in wanted.kept)
        where = f" WHERE {kept}" if kept else ""
        source = f"({self._once(wanted.query)}) AS {self._quoted(_SOURCE)}"
        return GivenRows(f"SELECT {listed} FROM {source}{where}", kinds)  # noqa: S608  # quoted

    def _once(self, query: str) -> str:
        """Return the query so that what it says of a row is said once."""
        # As its author wrote it; the line ends close comments.
        given = f"\n{query}\n"
        if self.wanted.dialect == "sqlite" and "random" in query.casefold():
            # SQLite evaluates a column wherever it is named, unless there is an OFFSET.
            return f"SELECT * FROM ({given}) LIMIT -1 OFFSET 0"  # noqa: S608  # the user's own
        return given

    def _carried(self) -> dict[str, str]:
        """Return the columns that travel under names of ours, and the query's names."""
        found = {
            helper: self.offered.either(name, "the order of rows")
            for name, helper in foreign_order(self.wanted.layout).items()
        }
        if self.wanted.cursor is not None:
            found[CURSOR] = self.offered.either(self.wanted.cursor, "incremental_column")
        return found

    def _declared(self) -> dict[str, str]:
        """Return the target's columns that the query returns, and its names for them."""
        aside = set(self._carried().values())
        if self.wanted.deletes is not None:
            named = columns_in(self.wanted.deletes)
            aside |= {self.offered.own(name, "apply_as_deletes") for name in named}
        given = {name.casefold() for name in self.wanted.layout.given}
        theirs = {
            renamed: name
            for name, renamed in self.offered.renamed.items()
            if name not in aside or renamed.casefold() in given
        }
        found = match_columns(
            list(theirs), self.wanted.table, kept=self.wanted.layout.table.column_names
        )
        return {name: theirs[renamed] for name, renamed in found.items()}

    def _proven(self, condition: str) -> str:
        known = {
            name.casefold(): Known(self._quoted(name), kind) for name, kind in self.kinds.items()
        }
        return proven_condition(condition, known, self.wanted.dialect)

    def _quoted(self, name: str) -> str:
        return quoted(name, grammar_of(self.wanted.dialect))


def _cleaned(wanted: Wanted, rows: GivenRows, describe: Describe) -> GivenRows:
    """Apply the markers, as `transform.normalize` does on Spark."""
    table, dialect = wanted.table, wanted.dialect
    if (why := needs_spark(table, dialect)) is not None:
        raise Unproven(why)
    families = {
        column.name: _family(column, rows.kinds[column.name])
        for column in table.columns
        if column.markers and not derives(column.markers)
    }
    beside = [name for name in rows.kinds if name not in table.column_names]
    sql = rows.sql
    for number, projection in enumerate(projections(table, families)):
        outputs = {name: rendered(node, dialect) for name, node in projection.outputs.items()}
        outputs |= {name: quoted(name, dialect) for name in beside}
        listed = ", ".join(f"{each} AS {quoted(name, dialect)}" for name, each in outputs.items())
        alias = quoted(f"_flow_rows_{number}", dialect)
        sql = f"SELECT {listed} FROM ({sql}) AS {alias}"  # noqa: S608  # rendered from nodes
    if dialect == "sqlite":
        # It tells no type of an expression; the values are asked one by one in any case.
        kinds = dict(rows.kinds)
        kinds |= {each.name: _natural(each.type) for each in table.columns if each.markers}
        return GivenRows(sql, kinds)
    return GivenRows(sql, {each.name: kind_of(each, dialect) for each in describe(sql)})


def _family(column: Column, kind: DataType | None) -> Family:
    found = Family.NUMBER if isinstance(kind, AnyNumeric | WideInteger) else Family.OTHER
    if kind is not None and found is Family.OTHER:
        found = family_of(kind)
    if found not in chain(column.markers, column.type).accepts:
        raise Unproven(f"what the query returns as {column.name} is not what its marker takes")
    return found


def _natural(kind: DataType) -> DataType:
    match kind:
        case SmallInt() | Integer():
            return BigInt()
        case String():
            return Text()
        case _:
            return kind
