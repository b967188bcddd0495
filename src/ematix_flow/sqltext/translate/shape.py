"""The clauses and operators of a query: what every dialect here shares, and what it does not."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.sqltext.translate.build import Rule, all_same, refused
from ematix_flow.sqltext.translate.kinds import Kind, kind_of
from ematix_flow.sqltext.translate.refusal import Refusal

_JOINS = {"", "INNER", "OUTER", "CROSS", "SEMI", "ANTI"}


def _select(node: exp.Select) -> exp.Expr:
    if node.args.get("kind"):
        raise Refusal(
            f"SELECT AS {node.args['kind']} is not known there", "select the columns themselves"
        )
    if node.args.get("sample"):
        raise Refusal("two engines never sample the same rows", _SPARK)
    distinct = node.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        if not node.args.get("order") or node.args.get("limit"):
            raise Refusal(
                "which row DISTINCT ON keeps is only certain with ORDER BY and without LIMIT",
                "number the rows with ROW_NUMBER() OVER (PARTITION BY ...) AS n and keep n = 1",
            )
        _no_star(node, "DISTINCT ON")
    if node.args.get("qualify"):
        _no_star(node, "QUALIFY")
    explodes = [each for each in node.selects if isinstance(each.unalias(), exp.Explode)]
    if len(explodes) > 1:
        raise Refusal(
            "two UNNEST beside each other are zipped here and multiplied there", _FROM_UNNEST
        )
    return node


def _no_star(node: exp.Select, clause: str) -> None:
    if node.is_star:
        raise Refusal(
            f"{clause} over * would add a column of its own", "name the columns instead of *"
        )


def _join(node: exp.Join) -> exp.Expr:
    if node.method not in ("", "NATURAL"):
        raise Refusal(
            f"there is no {node.method} JOIN",
            "join on the inequality and keep the nearest row with ROW_NUMBER()",
        )
    if node.kind not in _JOINS:
        raise Refusal(f"there is no {node.kind} JOIN", "say it with a join on a condition")
    if isinstance(node.this, exp.Unnest) and node.side:
        raise Refusal(
            "an outer join to UNNEST is not kept outer", "UNION the rows whose array is empty"
        )
    return node


def _window_spec(node: exp.WindowSpec) -> exp.Expr:
    if (node.args.get("kind") or "").upper() == "GROUPS":
        raise Refusal(
            "there are no GROUPS frames", "use a RANGE frame, or DENSE_RANK() and a self-join"
        )
    if node.args.get("exclude"):
        raise Refusal(
            "frames have no EXCLUDE there", "subtract the current row from the result yourself"
        )
    return node


def _limit(node: exp.Limit) -> exp.Expr:
    options = node.args.get("limit_options")
    if options is not None and options.args.get("percent"):
        raise Refusal("LIMIT takes no percentage there", "use NTILE(100) or a number of rows")
    if not isinstance(node.expression, exp.Literal) or node.expression.is_string:
        raise Refusal("LIMIT takes a plain number there", "write the number of rows")
    return node


def _fetch(node: exp.Fetch) -> exp.Expr:
    options = node.args.get("limit_options")
    if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
        raise Refusal(
            "FETCH takes neither PERCENT nor WITH TIES there", "use RANK() and keep rank <= n"
        )
    return node


def _star(node: exp.Star) -> exp.Expr:
    for clause in ("replace", "rename"):
        if node.args.get(clause):
            raise Refusal(
                f"* has no {clause.upper()} there", "* EXCLUDE the column and add it again"
            )
    return node


def _set_operation(node: exp.SetOperation) -> exp.Expr:
    if node.args.get("by_name") or node.args.get("match_by_name"):
        raise Refusal(
            "columns are matched by position there", "list the columns of both sides in order"
        )
    return node


def _values(node: exp.Values) -> exp.Expr:
    for row in node.expressions:
        if isinstance(row, exp.Tuple) and [type(each) for each in row.expressions] == [exp.Struct]:
            raise Refusal(
                "a struct alone in VALUES is taken apart there", "SELECT it, with UNION ALL"
            )
    return node


def _escaped(node: exp.ByteString) -> exp.Expr:
    if "\\" in node.name:
        raise Refusal("this escape is not read everywhere", "write the character itself")
    return exp.Literal.string(node.name)


def _in(node: exp.In) -> exp.Expr:
    if node.args.get("unnest"):
        raise Refusal("IN takes no UNNEST there", "use = ANY(array)")
    return node


def _table(node: exp.Table) -> exp.Expr:
    if not isinstance(node.this, exp.Identifier):
        raise Refusal(
            "a function in FROM reads or makes rows in a way of its own",
            "declare a source for the file, or UNNEST an array",
        )
    for clause in ("pivots", "sample", "version", "when"):
        if node.args.get(clause):
            raise Refusal(
                f"a table takes no {clause} clause there", "spell it out with CASE and GROUP BY"
            )
    return node


def _concatenation(node: exp.DPipe) -> exp.Expr:
    if Kind.DOUBLE in (kind_of(node.this), kind_of(node.expression)):
        raise Refusal(
            "the text of a floating point number differs", "CAST it to DECIMAL(p, s) first"
        )
    return node


def _any(node: exp.Any) -> exp.Expr:
    if not isinstance(node.parent, exp.EQ) or isinstance(node.this, exp.Query | exp.Subquery):
        raise Refusal(
            "ANY is only known as `value = ANY(array)`", "use IN, or EXISTS with a subquery"
        )
    return node


def _unnest(node: exp.Unnest) -> exp.Expr:
    if node.args.get("offset"):
        raise Refusal(
            "positions start elsewhere there", "UNNEST(generate_series(1, n)) and index with it"
        )
    if len(node.expressions) != 1:
        raise Refusal("several arrays in one UNNEST are zipped", _FROM_UNNEST)
    return node


def star_in_order(node: exp.Select) -> exp.Expr:
    """Refuse * over a join USING: Spark puts the shared columns first, others leave them."""
    joins = node.args.get("joins") or []
    if node.is_star and any(each.args.get("using") or each.method for each in joins):
        raise Refusal("* over JOIN USING has another order of columns", "name the columns")
    return _select(node)


_SPARK = 'write the query in Spark SQL and say dialect="spark"'
_FROM_UNNEST = "put each UNNEST into FROM, with its alias"
_PIVOT = "say it with SUM(CASE WHEN ... THEN ... END) and GROUP BY"

SHAPE: dict[type[exp.Expr], Rule] = {
    **all_same(
        *(exp.From, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Offset),
        *(exp.With, exp.CTE, exp.Subquery, exp.TableAlias, exp.Alias, exp.Identifier, exp.Dot),
        *(exp.Column, exp.IntervalSpan),
        *(exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ),
        *(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.Between, exp.Exists, exp.Case, exp.If),
        *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.Tuple, exp.Window, exp.Distinct),
        *(exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Mod, exp.Coalesce, exp.Nullif, exp.Var),
        *(exp.Greatest, exp.Least, exp.DataType, exp.Lateral, exp.Qualify, exp.Cube, exp.Rollup),
        *(exp.GroupingSets, exp.Grouping, exp.Filter, exp.IgnoreNulls, exp.RespectNulls),
        *(exp.DataTypeParam, exp.LimitOptions, exp.ColumnDef, exp.Aliases),
        exp.Lambda,
    ),
    exp.Select: _select,
    exp.Union: _set_operation,
    exp.Intersect: _set_operation,
    exp.Except: _set_operation,
    exp.Join: _join,
    exp.WindowSpec: _window_spec,
    exp.Limit: _limit,
    exp.Fetch: _fetch,
    exp.Star: _star,
    exp.In: _in,
    exp.Values: _values,
    exp.ByteString: _escaped,
    exp.Heredoc: lambda node: exp.Literal.string(node.name),
    exp.RawString: lambda node: exp.Literal.string(node.name),
    exp.UnicodeString: refused("there are no U& texts", "write the character itself"),
    exp.Columns: refused("columns are not chosen by a pattern there", "name the columns"),
    exp.ReadCSV: refused("a query reads declared sources", "declare a source for the file"),
    exp.ReadParquet: refused("a query reads declared sources", "declare a source for the file"),
    exp.Table: _table,
    exp.DPipe: _concatenation,
    exp.Any: _any,
    exp.Unnest: _unnest,
    exp.All: refused("ALL over an array or a subquery is not known there", "use NOT EXISTS"),
    exp.Pivot: refused("PIVOT and UNPIVOT differ between dialects", _PIVOT),
    exp.TableSample: refused("two engines never sample the same rows", _SPARK),
    exp.SimilarTo: refused("SIMILAR TO is read differently everywhere", "use LIKE or a regexp"),
    exp.Collate: refused("collations differ", "compare lower(...) or plain text"),
    exp.Parameter: refused("a query has no parameters", "put the value into the text"),
    exp.Placeholder: refused("a query has no parameters", "put the value into the text"),
    exp.Rand: refused("two engines never draw the same numbers", _SPARK),
    exp.Uuid: refused("two engines never draw the same values", _SPARK),
}
