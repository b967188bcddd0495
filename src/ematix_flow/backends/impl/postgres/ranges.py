"""A query over one table, cut into ranges of the table's pages.

Pages need no key, are balanced, and PostgreSQL reads a range of them without looking at the
rest. A query is cut only where each of its rows comes from one row of the table: by its text, it
selects from one table; by PostgreSQL's own plan, it does nothing but scan that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from ematix_flow.backends.impl.postgres.database import fetch

if TYPE_CHECKING:
    from ematix_flow.backends.impl.postgres.adbc import Connection

# Less is read in one go: a task more costs its connections and, in fresh workers, their imports.
_SMALLEST_BYTES = 64 * 1024**2
# Before version 14, a range of pages was found by reading all of them.
_FIRST_VERSION = 140_000
_CLAUSES = frozenset({"kind", "expressions", "from_", "where", "order"})
_NAMED = frozenset({"this", "db", "catalog", "alias"})
_SCANS = frozenset({"Seq Scan", "Gather", "Append", "Sort"})

# Tables and partitioned ones: what has pages, and can be kept from being rewritten meanwhile.
_SIZE = """
SELECT CAST(current_setting('server_version_num') AS int),
       CAST((SELECT sum(pg_relation_size(t.oid)) FROM unnest(t.parts) AS t(oid)) AS bigint),
       CAST((SELECT max(pg_relation_size(t.oid)) FROM unnest(t.parts) AS t(oid)) AS bigint)
         / CAST(current_setting('block_size') AS bigint)
FROM (SELECT CASE WHEN c.relkind = 'p'
                  THEN ARRAY(SELECT p.relid FROM pg_partition_tree(c.oid) p WHERE p.isleaf)
                  ELSE ARRAY[CAST(c.oid AS regclass)] END AS parts
      FROM pg_catalog.pg_class c
      WHERE c.oid = to_regclass(?) AND c.relkind IN ('r', 'p')) AS t
"""


@dataclass(frozen=True, slots=True)
class PageRange:
    """Pages from *first* up to, not including, *end*; None where it goes on to the last."""

    first: int
    end: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RangedQuery:
    """A query and the ranges that together give each of its rows once.

    :param before: Its text up to where the condition on the pages goes.
    :param table: The table's name, as the query spells it.
    :param ctid: The place of a row, with the name of its table.
    """

    table: str
    before: str
    ctid: str
    ranges: tuple[PageRange, ...]

    def within(self, pages: PageRange) -> str:
        """Return the query over a part of the table."""
        end = f" AND {self.ctid} < '({pages.end},0)'" if pages.end is not None else ""
        return f"{self.before}{self.ctid} >= '({pages.first},0)'{end}"


def ranged(database: Connection, query: str, most: int) -> RangedQuery | None:
    """Cut *query* into at most *most* ranges; None where it cannot be, or is not worth it."""
    table = _only_table(query)
    if table is None or most < 2:
        return None
    before = _up_to_condition(query)
    if not _only_scans(database, f"{before}true"):
        return None
    bare = exp.Table(this=table.this, db=table.args.get("db"), catalog=table.args.get("catalog"))
    spelt = bare.sql(dialect="postgres")
    found = fetch(database, _SIZE, (spelt,))
    if not found or found[0][0] < _FIRST_VERSION or found[0][1] is None:
        return None
    [(_, size, pages)] = found
    count = min(most, size // _SMALLEST_BYTES, pages)
    if count < 2:
        return None
    name = table.args["alias"].this if table.args.get("alias") else table.this
    return RangedQuery(
        table=spelt,
        before=before,
        ctid=f"{name.sql(dialect='postgres')}.ctid",
        ranges=tuple(_cut(pages, count)),
    )


def _cut(pages: int, count: int) -> Iterator[PageRange]:
    """The last range has no end: the table may have grown since it was measured."""
    bounds = [pages * number // count for number in range(count)]
    for first, end in zip(bounds, (*bounds[1:], None), strict=True):
        yield PageRange(first, end)


def _only_table(query: str) -> exp.Table | None:
    """Return the table of a query that selects from one and has no other clause than WHERE."""
    try:
        parsed = sqlglot.parse(query, dialect="postgres")
    except SqlglotError:
        return None
    match parsed:
        case [exp.Select(args={"from_": exp.From(this=exp.Table() as table)}) as select]:
            is_plain = _used(select) <= _CLAUSES and _used(table) <= _NAMED
            return table if is_plain and isinstance(table.this, exp.Identifier) else None
        case _:
            return None


def _used(node: exp.Expression) -> set[str]:
    return {name for name, value in node.args.items() if value}


def _only_scans(database: Connection, query: str) -> bool:
    """Tell from PostgreSQL's plan whether it only scans: what it groups or joins cannot be cut."""
    with database.cursor() as cursor:
        # EXPLAIN is no query, and the driver would COPY it.
        cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
        cursor.execute(f"EXPLAIN (FORMAT JSON) {query}")
        [(text,)] = cursor.fetchall()
    [explained] = json.loads(text)
    return all(node in _SCANS for node in _nodes(explained["Plan"]))


def _nodes(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["Node Type"]
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)


def _up_to_condition(query: str) -> str:
    """Return the text of the query, with its own condition in parentheses, up to where more goes.

    The text is the user's, not sqlglot's rendering of it. What orders the rows is left out:
    Spark's rows have no order.
    """
    tokens = [each for each in _outermost(query) if each.token_type is not TokenType.SEMICOLON]
    order = next(
        (n for n, each in enumerate(tokens) if each.token_type is TokenType.ORDER_BY), None
    )
    last = tokens[(order or len(tokens)) - 1]
    where = next((each for each in tokens if each.token_type is TokenType.WHERE), None)
    # Lines of their own, because a comment may stand at the end of what is before.
    if where is None:
        return f"{query[: last.end + 1]}\nWHERE "
    own = query[where.end + 1 : last.end + 1]
    return f"{query[: where.end + 1]} ({own}\n) AND "


def _outermost(query: str) -> Iterator[Any]:
    depth = 0
    for token in sqlglot.tokenize(query, dialect="postgres"):
        depth -= token.token_type is TokenType.R_PAREN
        if depth == 0:
            yield token
        depth += token.token_type is TokenType.L_PAREN
