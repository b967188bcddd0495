"""Dates and times on their way from Spark into a database."""

from __future__ import annotations

import re

from sqlglot import exp

from ematix_flow.sqltext.translate import dates
from ematix_flow.sqltext.translate.build import Rule, cast, number
from ematix_flow.sqltext.translate.kinds import GIVEN, Kind, kind_of, text
from ematix_flow.sqltext.translate.refusal import Refusal

_DAYS = {"YEAR", "MONTH", "WEEK", "DAY"}
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)


def shifted(node: exp.Add | exp.Sub) -> exp.Expr:
    """Add an interval; a date stays a date in Spark and becomes a timestamp there."""
    left, right = kind_of(node.this), kind_of(node.expression)
    if right is not Kind.INTERVAL:
        if isinstance(node, exp.Sub) and Kind.DATE in (left, right) and right is not Kind.INTEGER:
            raise Refusal(
                "date minus date is an interval here, and counts days there", "use DATEDIFF"
            )
        return node
    if left in (Kind.TIMESTAMP, Kind.INSTANT, Kind.INTERVAL) or isinstance(node.parent, _COMPARED):
        return node
    units = {dates.unit_of(each) for each in node.expression.find_all(exp.Interval)}
    if left is Kind.DATE and units <= _DAYS:
        return cast(node, "date")
    raise Refusal("whether a date stays a date depends on the type", "CAST it to DATE or TIMESTAMP")


def plus_days(node: exp.TsOrDsAdd) -> exp.Expr:
    """Add days to a date."""
    if dates.unit_of(node) not in ("", "DAY"):
        raise Refusal("only days are added alike", "add an interval")
    day = cast(node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this, "date")
    return exp.paren(
        exp.Add(this=day, expression=exp.paren(node.expression.copy(), copy=False)), copy=False
    )


def days_between(node: exp.DateDiff) -> exp.Expr:
    """Count the days between two dates."""
    if node.args.get("unit"):
        raise Refusal("whole units are counted here, boundaries there", "use DATEDIFF(end, start)")
    sides = [
        each.this if isinstance(each, exp.TsOrDsToDate) else each
        for each in (node.this, node.expression)
    ]
    end, start = (cast(each, "date") for each in sides)
    days = exp.paren(exp.Sub(this=end, expression=start), copy=False)
    days.meta[GIVEN] = Kind.INTEGER
    return days


def part(name: str) -> Rule:
    """Take a part of a date as an integer."""

    def rule(node: exp.Func) -> exp.Expr:
        value = node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this
        part = exp.Extract(this=exp.Var(this=name), expression=value.copy())
        return cast(part, "int")

    return rule


def day_of_week(node: exp.DayOfWeek) -> exp.Expr:
    """Count the days of a week from Sunday as 1."""
    value = node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this
    day = cast(exp.Extract(this=exp.Var(this="dow"), expression=value.copy()), "int")
    return exp.paren(exp.Add(this=day, expression=number(1)), copy=False)


def extract(node: exp.Extract) -> exp.Expr:
    """Take a part that both sides count alike."""
    if node.name.upper() not in ("YEAR", "MONTH", "DAY", "QUARTER", "WEEK", "HOUR", "MINUTE"):
        raise Refusal(
            f"{node.name} is counted differently there", "use year, month, day, dayofweek ..."
        )
    return cast(node, "int")


def formatted(node: exp.TimeToStr) -> exp.Expr:
    """Format with the parts that both sides write alike."""
    pattern = text(node.args.get("format")) or "?"
    if not re.fullmatch(r"(?:%[YmdHMS]|[-/:., ])*", pattern):
        raise Refusal("only year to second are formatted alike", "use yyyy MM dd HH mm ss")
    return node
