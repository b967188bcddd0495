"""A window over an incremental column, as SQL around the user's query.

Exactly the rows of the window where the database compares as Spark does; else a few more, never
fewer: what is read is compared again by Spark, value by value.
"""

from __future__ import annotations

from datetime import date, timedelta

from sqlglot import exp

from ematix_flow.spec.cursor import Cursor, CursorKind
from ematix_flow.spec.window import Bound, Window
from ematix_flow.sqltext.dialect_names import is_mysql
from ematix_flow.sqltext.identifiers import column, quoted

_ALIAS = "_flow_source"
_COMPARISONS = {">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE}
# Instants are written with offsets of up to 14 hours, so their day may be the next one.
_A_DAY = timedelta(days=1)


def within(query: str, window: Window, dialect: str, name: str | None = None) -> str:
    """Return *query* with only those of its rows that lie in *window*.

    Those without a value stay: no later run would find them, so they are judged, not passed over.

    :param name: How the query spells the window's column.
    """
    conditions = [
        each
        for bound in window.bounds
        if (each := _condition(name or window.column, bound, dialect)) is not None
    ]
    if not conditions:
        return query
    unknown = exp.Is(this=column(name or window.column), expression=exp.Null())
    where = exp.or_(unknown, exp.and_(*conditions)).sql(dialect=dialect)
    # As text: the query stays as its author wrote it. The line ends close comments.
    alias = quoted(_ALIAS, dialect)
    return f"SELECT * FROM (\n{query}\n) AS {alias} WHERE {where}"  # noqa: S608  # the user's own


def _condition(name: str, bound: Bound, dialect: str) -> exp.Expr | None:
    cursor, left = bound.cursor, column(name)
    if dialect == "sqlite" and cursor.kind is not CursorKind.INTEGER:
        return _in_sqlite(left, bound)
    comparison = _COMPARISONS[bound.operator]
    if cursor.kind is CursorKind.TEXT:
        return comparison(
            this=_bytes_of(left, dialect), expression=_bytes_of(_text(cursor), dialect)
        )
    return comparison(this=left, expression=_literal(cursor, dialect))


def _literal(cursor: Cursor, dialect: str) -> exp.Expr:
    match cursor.kind:
        case CursorKind.INTEGER | CursorKind.DECIMAL:
            number = exp.Literal.number(cursor.value.lstrip("-+"))
            return exp.Neg(this=number) if cursor.value.startswith("-") else number
        case CursorKind.DOUBLE:
            return exp.cast(_text(cursor), "double")
        case CursorKind.DATE:
            return exp.cast(_text(cursor), "date")
        case _ if is_mysql(dialect):
            # In UTC, the zone of our sessions; without the 6 the decimals would be cut.
            return exp.cast(_text(cursor), exp.DataType.build("DATETIME(6)", dialect="mysql"))
        case CursorKind.TIMESTAMPTZ:
            return exp.cast(exp.Literal.string(f"{cursor.value}+00:00"), "timestamptz")
        case _:
            return exp.cast(_text(cursor), "timestamp")


def _text(cursor: Cursor) -> exp.Expr:
    return exp.Literal.string(cursor.value)


def _bytes_of(value: exp.Expr, dialect: str) -> exp.Expr:
    """Let text be compared by its bytes, as Spark does, not by a language's alphabet."""
    if dialect == "postgres":
        as_text = exp.cast(value, "text")  # a uuid has no collation
        return exp.Collate(this=as_text, expression=exp.to_identifier("C", quoted=True))
    if is_mysql(dialect):
        return exp.cast(exp.cast(value, "char"), "binary")
    return value


def _in_sqlite(left: exp.Expr, bound: Bound) -> exp.Expr | None:
    """Compare what text can tell: SQLite keeps times, decimals and doubles as it likes."""
    cursor, lower = bound.cursor, bound.operator.startswith(">")
    if cursor.kind is CursorKind.TEXT:
        binary = exp.Collate(this=left, expression=exp.to_identifier("BINARY"))
        return _COMPARISONS[bound.operator](this=binary, expression=_text(cursor))
    if not cursor.kind.is_time:
        return None
    try:
        day = date.fromisoformat(cursor.value[:10]) + (-_A_DAY if lower else _A_DAY)
    except OverflowError:
        return None
    starts = exp.Substring(this=left, start=exp.Literal.number(1), length=exp.Literal.number(10))
    comparison = exp.GTE if lower else exp.LTE
    return exp.or_(
        exp.NEQ(this=exp.func("typeof", left.copy()), expression=exp.Literal.string("text")),
        comparison(this=starts, expression=exp.Literal.string(day.isoformat())),
    )
