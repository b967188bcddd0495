"""Loading straight from one database into another: this process carries the rows, as Arrow.

They arrive in a table that only the committing session sees, as they left the source. From there
on everything is as if the query had run in the target's own database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ematix_flow.plan.steps import Carry, SelectInTarget
from ematix_flow.plan.without_spark import BUILT, PlainLoad
from ematix_flow.ports import ActualColumn, ArrivingColumn, StateReader
from ematix_flow.spec.layout import TASK
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import Array, Bytes, DataType, Struct, Text, TimestampTZ
from ematix_flow.sqltext.dialect_names import is_mysql
from ematix_flow.sqltext.in_database import Unproven, selection
from ematix_flow.sqltext.in_database.arriving import Arriving
from ematix_flow.sqltext.program.work import carried_name
from ematix_flow.sqltext.type_names import held_columns

# The shortest limit there is, PostgreSQL's; and of characters, MySQL's.
_LONGEST = 63
_WIDE = 0x10000
# Columns that every table of PostgreSQL has.
_TAKEN = frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"})


def carried_directly(
    plain: PlainLoad, dialect: str, state: StateReader
) -> tuple[Carry, SelectInTarget]:
    """Return the steps that carry the rows and select from them; Unproven where Spark must.

    :param dialect: The SQL of the target.
    """
    read, commit, contract = plain.read, plain.load.commit, plain.load.contract
    if dialect not in BUILT:
        raise Unproven(f"judging rows in {dialect} is not built yet")
    arriving = state.arriving(read.connection, read.query)
    if arriving is None:
        raise Unproven(f"only Spark reads {read.connection}")
    plain.require_exact_window([(each.name, each.type) for each in arriving])
    relation = carried_name(commit.program.staging)
    table = _table(arriving, plain, relation, dialect)
    described = [
        ActualColumn(name=column.name, type=held.type_name, nullable=True)
        for column, held in zip(table.columns, held_columns(table, dialect), strict=True)
    ]
    rows = Arriving(relation=relation, columns=described, dialect=dialect)

    def describe(query: str) -> tuple[ActualColumn, ...]:
        return state.describe_alone(commit.connection, rows.describing(query))

    wanted = replace(plain.wanted(rows.query, dialect), known=_known(table, dialect))
    chosen = selection(wanted, contract, described, describe)
    return (
        Carry(connection=commit.connection, read=read, table=table, relation=relation),
        SelectInTarget(
            connection=commit.connection,
            read=read,
            selection=chosen,
            contract=contract,
            shaping=plain.shaping,
            is_settled=True,
        ),
    )


def _table(
    arriving: Sequence[ArrivingColumn], plain: PlainLoad, relation: str, dialect: str
) -> Table:
    """Return the columns of the query as they arrive; those that name a row are marked."""
    if len({each.name.casefold() for each in arriving}) < len(arriving):
        raise Unproven("the query returns a column twice")
    if odd := [each.name for each in arriving if not _is_name(each.name)]:
        raise Unproven(f"{odd[0]!r} cannot be the name of a column in every database")
    wanted = plain.wanted("", dialect)
    renamed = dict(wanted.column_map)
    keys = {name.casefold() for name in (*plain.load.commit.layout.keys, *wanted.table.key_columns)}
    columns = []
    for each in arriving:
        if each.type is None:
            raise Unproven(f"{each.name} is of no type that is known before it is read")
        if isinstance(each.type, Array | Struct):
            raise Unproven(f"{each.name} is {each.type}: arrays and structs are Spark's")
        # What names a row in a message is no key in MySQL, which limits those.
        names_rows = renamed.get(each.name, each.name).casefold() in keys
        limited = is_mysql(dialect) and isinstance(each.type, Text | Bytes)
        columns.append(
            Column(
                name=each.name,
                type=each.type,
                nullable=True,
                natural_key=names_rows and not limited,
            )
        )
    return Table(
        name=TableName(name=relation), columns=tuple(columns), location=plain.pipeline.location
    )


def _is_name(name: str) -> bool:
    plain = name == name.strip() and name.isprintable() and max(map(ord, name), default=0) < _WIDE
    taken = name.casefold() in _TAKEN or name.startswith(TASK)
    return plain and bool(name) and len(name.encode()) <= _LONGEST and not taken


def _known(table: Table, dialect: str) -> dict[str, DataType]:
    """Return what the columns are where their type there does not say it: MySQL's instants."""
    columns = table.columns if is_mysql(dialect) else ()
    return {each.name: each.type for each in columns if isinstance(each.type, TimestampTZ)}
