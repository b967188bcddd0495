"""Loading without a row leaving the database: the query runs where its target is."""

from __future__ import annotations

from dataclasses import replace

from ematix_flow.plan.steps import SelectInTarget
from ematix_flow.plan.without_spark import BUILT, PlainLoad
from ematix_flow.ports import ActualColumn, StateReader
from ematix_flow.sqltext.dialect_names import grammar_of
from ematix_flow.sqltext.in_database import Unproven, selection
from ematix_flow.sqltext.in_database.rows import Describe, kind_of
from ematix_flow.sqltext.sqlite_types import told_by_text


def selected_in_database(plain: PlainLoad, dialect: str, state: StateReader) -> SelectInTarget:
    """Return the step that has the database select the rows itself; Unproven where it cannot.

    :param dialect: The SQL of the target.
    """
    read = plain.read
    if read.connection != plain.load.commit.connection:
        raise Unproven("its source and its target are two connections")
    if dialect not in BUILT or grammar_of(dialect) != read.dialect:
        raise Unproven(f"running a load in {dialect} alone is not built yet")

    def describe(query: str) -> tuple[ActualColumn, ...]:
        return state.describe(read.connection, query)

    described = _described(read.query, dialect, describe)
    plain.require_exact_window([(each.name, kind_of(each, dialect)) for each in described])
    contract = plain.load.contract
    chosen = selection(plain.wanted(read.query, dialect), contract, described, describe)
    return SelectInTarget(
        connection=read.connection,
        read=read,
        selection=chosen,
        contract=contract,
        shaping=plain.shaping,
    )


def _described(query: str, dialect: str, describe: Describe) -> tuple[ActualColumn, ...]:
    described = describe(query)
    if dialect != "sqlite" or all(each.type for each in described):
        return described
    told = told_by_text(query)
    return tuple(
        each if each.type else replace(each, type=told.get(each.name, "")) for each in described
    )
