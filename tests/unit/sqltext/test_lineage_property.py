"""Queries built at random together with their lineage: reading them gives it back."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.dialect import parse_query
from ematix_flow.sqltext.lineage import column_lineage

TABLES = {"orders": ["id", "customer", "amount"], "customers": ["id", "name"], "s.rates": ["rate"]}
SCHEMA = {
    TableName(name=name.rpartition(".")[2], schema=name.rpartition(".")[0] or None): columns
    for name, columns in TABLES.items()
}


@dataclass(frozen=True)
class Built:
    """A query or an expression, and the sources that its parts were given."""

    sql: str
    columns: dict[str, frozenset[str]]


@st.composite
def values(draw, visible):
    """An expression over the visible columns, and its sources."""
    one, two = (draw(st.sampled_from(sorted(visible))) for _ in range(2))
    shape = draw(
        st.sampled_from(
            [
                ("7", ()),
                ("{0}", (one,)),
                ("({0})", (one,)),
                ("{0} + {1}", (one, two)),
                ("upper({0})", (one,)),
                ("CASE WHEN {0} > 1 THEN {1} ELSE 0 END", (one, two)),
                ("sum({0}) OVER (PARTITION BY {1})", (one, two)),
                ("coalesce({0}, CAST({1} AS INT))", (one, two)),
                ("(SELECT max(name) FROM customers AS inside WHERE inside.id = {0})", (one,)),
            ]
        )
    )
    text, used = shape
    sources = frozenset().union(*(visible[each] for each in used))
    if "SELECT" in text:
        sources = frozenset({"customers.name"})  # the correlated column only filters
    return text.format(*used), sources


@st.composite
def relations(draw, alias, depth):
    """Something for a FROM, and its columns under its alias."""
    if depth == 0 or draw(st.booleans()):
        name = draw(st.sampled_from(sorted(TABLES)))
        columns = {column: frozenset({f"{name}.{column}"}) for column in TABLES[name]}
        text = f"{name} AS {alias}"
    else:
        inner = draw(queries(depth=depth - 1))
        columns, text = inner.columns, f"({inner.sql}) AS {alias}"
    return text, {f"{alias}.{column}": sources for column, sources in columns.items()}


@st.composite
def selects(draw, depth, width):
    aliases = ["r0", "r1"][: draw(st.integers(1, 2))]
    sources = [draw(relations(alias, depth)) for alias in aliases]
    visible = {name: found for _, columns in sources for name, found in columns.items()}
    made = [draw(values(visible)) for _ in range(width)]
    listed = ", ".join(f"{text} AS c{place}" for place, (text, _) in enumerate(made))
    join = draw(st.sampled_from([" CROSS JOIN ", ", "]))
    where = draw(st.sampled_from(["", f" WHERE {min(visible)} > 3"]))
    return Built(
        f"SELECT {listed} FROM {join.join(text for text, _ in sources)}{where}",
        {f"c{place}": found for place, (_, found) in enumerate(made)},
    )


@st.composite
def queries(draw, depth):
    """A query, and the sources of its columns."""
    width = draw(st.integers(1, 3))
    built = draw(selects(depth, width))
    match draw(st.sampled_from(["plain", "union", "star", "cte", "grouped"])):
        case "union":
            other = draw(selects(0, width))
            both = {name: found | other.columns[name] for name, found in built.columns.items()}
            return Built(f"{built.sql} UNION ALL {other.sql}", both)
        case "star":
            return Built(f"SELECT w.* FROM ({built.sql}) AS w", built.columns)
        case "cte":
            return Built(f"WITH q AS ({built.sql}) SELECT * FROM q", built.columns)
        case "grouped":
            first, *rest = built.columns
            totals = "".join(f", max({name}) AS {name}" for name in rest)
            return Built(
                f"SELECT {first}{totals} FROM ({built.sql}) AS g GROUP BY 1", built.columns
            )
        case _:
            return built


@pytest.mark.proves("lineage")
@settings(deadline=None)
@given(queries(depth=2), st.sampled_from(["spark", "duckdb", "postgres"]))
def test_a_query_has_the_lineage_it_was_built_with(built, dialect):
    parsed = parse_query(built.sql, dialect=dialect, where="test")
    lineage = column_lineage(parsed, dialect=dialect, schema=SCHEMA)
    assert lineage.complete
    found = {each.column: frozenset(map(str, each.sources)) for each in lineage.columns}
    assert found == built.columns
