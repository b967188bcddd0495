"""Lineage of every TPC query: complete, and the same as sqlglot finds by its slow way."""

from __future__ import annotations

import pytest
from sqlglot import exp
from sqlglot.lineage import lineage as sqlglot_lineage
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import build_scope

from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.dialect import parse_query
from ematix_flow.sqltext.lineage import column_lineage
from tests.tpc.data import COUNTS, benchmark


def parsed(data, number):
    return parse_query(data.query(number), dialect="duckdb", where=f"{data.name} {number}")


@pytest.mark.proves("lineage")
@pytest.mark.parametrize("name", COUNTS)
def test_every_column_is_traced(name):
    data = benchmark(name)
    schema = {TableName(name=table): columns for table, columns in data.columns.items()}
    for number in range(1, COUNTS[name] + 1):
        lineage = column_lineage(parsed(data, number), dialect="duckdb", schema=schema)
        assert lineage.complete, f"{name} {number}"
        assert len(lineage.columns) == len(data.answer(number)["names"])
        for column in lineage.columns:
            traced = column.sources or column.rows_of or column.kind == "constant"
            assert traced, f"{name} {number}: {column}"


@pytest.mark.proves("lineage")
@pytest.mark.parametrize("name", COUNTS)
def test_sqlglot_agrees(name):
    data = benchmark(name)
    schema = {TableName(name=table): columns for table, columns in data.columns.items()}
    for number in range(1, COUNTS[name] + 1):
        query = parsed(data, number)
        ours = [
            {(each.table.name, each.column) for each in column.sources}
            for column in column_lineage(query, dialect="duckdb", schema=schema).columns
        ]
        assert ours == _sqlglot_sources(query, data.columns), f"{name} {number}"


def _sqlglot_sources(query, columns):
    types = {table: dict.fromkeys(names, "int") for table, names in columns.items()}
    whole = qualify(
        query.copy(), schema=types, dialect="duckdb", validate_qualify_columns=False, identify=False
    )
    scope = build_scope(whole)
    return [
        {
            (node.expression.name, node.name.rpartition(".")[2].strip('"'))
            for node in sqlglot_lineage(
                each.alias_or_name, whole, types, scope=scope, dialect="duckdb", trim_selects=False
            ).walk()
            if isinstance(node.expression, exp.Table) and node.name != "*"
        }
        for each in whole.selects
    ]
