"""The write program of each mode: statements over `staging` and the target."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sqlglot import exp

from ematix_flow.spec.modes import Mode
from ematix_flow.spec.table import Table, TableName
from ematix_flow.sqltext.identifiers import quoted, table

STAGING = "_flow_staging"


class Effect(StrEnum):
    """What a statement's row count counts."""

    INSERTED = "inserted"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement of a write program."""

    effect: Effect
    sql: str


def write_program(
    mode: Mode, declared: Table, name: TableName, dialect: str
) -> tuple[Statement, ...]:
    """Return the statements that apply staged rows to the target, in order."""
    match mode:
        case Mode.APPEND:
            return (_insert(declared, name, dialect),)
        case Mode.TRUNCATE:
            # DELETE, not TRUNCATE: it belongs to the transaction, so no reader sees an empty table.
            delete = exp.Delete(this=table(name)).sql(dialect=dialect)
            return (
                Statement(effect=Effect.DELETED, sql=delete),
                _insert(declared, name, dialect),
            )
        case Mode.MERGE | Mode.SCD1 | Mode.SCD2:
            return ()  # not built yet: the plan says so and is not run


def _insert(declared: Table, name: TableName, dialect: str) -> Statement:
    # As text: a plan of hundreds of pipelines builds hundreds of these.
    names = ", ".join(quoted(each.name, dialect) for each in declared.columns)
    into, staging = table(name).sql(dialect=dialect), quoted(STAGING, dialect)
    sql = f"INSERT INTO {into} ({names}) SELECT {names} FROM {staging}"  # noqa: S608  # quoted
    return Statement(effect=Effect.INSERTED, sql=sql)
