"""Dates, times and intervals on their way to Spark, whose session keeps UTC."""

from __future__ import annotations

import re

from sqlglot import exp

from ematix_flow.sqltext.translate.build import (
    Rule,
    all_same,
    call,
    cast,
    number,
    refused,
    same,
    string,
    type_is,
    unless,
)
from ematix_flow.sqltext.translate.kinds import GIVEN, Kind, integer, kind_of, text
from ematix_flow.sqltext.translate.refusal import Refusal

_DAYS = {"YEAR", "MONTH", "WEEK", "DAY"}
_UNITS = _DAYS | {"HOUR", "MINUTE", "SECOND"}
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_PARTS = {"YEAR", "MONTH", "DAY", "QUARTER", "WEEK", "DOY", "HOUR", "MINUTE"}
_TRUNCATED = {"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"}
_STRFTIME = re.compile(r"(?:%[YmdHMS]|[-/:., ])*")
_CAST_DATE = "CAST both sides: DATE - DATE counts days, DATE - INTEGER is a date"


def unit_of(node: exp.Expr) -> str:
    """Return the unit a function or interval names, in capitals and in the singular."""
    unit = node.args.get("unit")
    name = str(unit.name).upper() if isinstance(unit, exp.Expr) else ""
    return name.removesuffix("S") if name not in ("", "S") else name


def _interval(node: exp.Interval) -> exp.Expr:
    value = node.this
    literal = text(value) if text(value) is not None else integer(value)
    if unit_of(node) not in _UNITS or literal is None:
        raise Refusal(
            "only an interval of one number and one unit is the same everywhere",
            "add up intervals such as INTERVAL '1' DAY, or n * INTERVAL '1' DAY",
        )
    if not re.fullmatch(r"-?\d+", str(literal)):
        raise Refusal("intervals take whole numbers", "use a smaller unit")
    return node


def shifted(*, date_stays: bool) -> Rule:
    """Add or subtract an interval; unless *date_stays*, a date becomes a timestamp here."""

    def rule(node: exp.Add | exp.Sub) -> exp.Expr:
        left, right = kind_of(node.this), kind_of(node.expression)
        if isinstance(node, exp.Sub) and Kind.DATE in (left, right):
            return _date_minus(node, left, right)
        if isinstance(node, exp.Sub) and left is right is None:
            return _perhaps_dates(node)
        if right is not Kind.INTERVAL:
            if left is Kind.INTERVAL:
                raise Refusal("the interval comes first", "put the date first: date + interval")
            return node
        if left in (Kind.INTERVAL, Kind.TIMESTAMP, Kind.INSTANT):
            return node
        if date_stays:
            return _kept_date(node, left)
        if left is Kind.DATE:
            node.set("this", cast(node.this, "timestampntz"))
            return node
        if isinstance(node.parent, _COMPARED):
            # A date and its midnight compare alike.
            return node
        as_timestamp = cast(node, "timestampntz")
        return call("IF", type_is(node.this, ["date"]), as_timestamp, node)

    return rule


def _date_minus(node: exp.Sub, left: Kind | None, right: Kind | None) -> exp.Expr:
    if left is right is Kind.DATE:
        return call("DATEDIFF", node.this, node.expression, kind=Kind.INTEGER)
    if right is Kind.INTERVAL:
        node.set("this", cast(node.this, "timestampntz"))
        return node
    if left is Kind.DATE and right is Kind.INTEGER:
        return node
    if Kind.TIMESTAMP in (left, right):
        for side in ("this", "expression"):
            node.set(side, cast(node.args[side], "timestampntz"))
        return node
    raise Refusal("date minus date counts days here and is an interval there", _CAST_DATE)


def _perhaps_dates(node: exp.Sub) -> exp.Expr:
    """Subtract, unless both turn out to be dates: their difference is an interval there."""
    if isinstance(node.parent, _COMPARED):
        return node  # an interval does not compare with a number: an error, not an answer
    dates = exp.and_(type_is(node.this, ["date"]), type_is(node.expression, ["date"]))
    return unless(dates, "date minus date counts days here: CAST both sides to DATE", node)


def _kept_date(node: exp.Add | exp.Sub, left: Kind | None) -> exp.Expr:
    units = {unit_of(each) for each in node.expression.find_all(exp.Interval)}
    if left in (None, Kind.DATE) and not units <= _DAYS:
        raise Refusal("hours added to a date are lost here", "CAST the date to TIMESTAMP first")
    return node


def _extract(seconds: str) -> Rule:
    def rule(node: exp.Extract) -> exp.Expr:
        part, value = node.name.upper(), node.expression
        match part:
            case "DOW" | "DAYOFWEEK":
                sunday = exp.Sub(this=call("DAYOFWEEK", value), expression=number(1))
                sunday.meta[GIVEN] = Kind.INTEGER
                return exp.paren(sunday, copy=False)
            case "ISODOW" | "DAYOFWEEKISO" | "DAYOFWEEK_ISO":
                monday = exp.Add(this=call("WEEKDAY", value), expression=number(1))
                monday.meta[GIVEN] = Kind.INTEGER
                return exp.paren(monday, copy=False)
            case "DAYOFYEAR":
                return call("DAYOFYEAR", value, kind=Kind.INTEGER)
            case "ISOYEAR" | "YEAROFWEEKISO":
                return call("EXTRACT_YEAROFWEEK", value)
            case "SECOND" if seconds == "whole":
                return call("SECOND", value, kind=Kind.INTEGER)
            case "SECOND":
                node.meta[GIVEN] = Kind.DECIMAL
                return node
            case "EPOCH":
                return _epoch(value, exact=seconds == "decimal")
            case _ if part in _PARTS:
                return node
            case _:
                raise Refusal(f"there is no part {part}", f"use one of {', '.join(sorted(_PARTS))}")

    return rule


def _epoch(value: exp.Expr, *, exact: bool) -> exp.Expr:
    if kind_of(value) is Kind.INTERVAL or isinstance(value, exp.Sub):
        raise Refusal("an interval has no epoch there", "subtract the two epochs instead")
    return cast(cast(value, "timestampltz"), "decimal(20, 6)" if exact else "double")


def truncated(*, date_zoned: bool) -> Rule:
    """Truncate to a unit; Spark's answer is an instant, so a naive one is cast back."""

    def rule(node: exp.Func) -> exp.Expr:
        unit = unit_of(node)
        if unit not in _TRUNCATED:
            raise Refusal("no such unit there", f"use one of {', '.join(sorted(_TRUNCATED))}")
        cut = call("DATE_TRUNC", string(unit), node.this)
        kind = kind_of(node.this)
        if kind is Kind.TIMESTAMP or (kind is Kind.DATE and not date_zoned):
            return cast(cut, "timestampntz")
        return cut

    return rule


def _boundaries(node: exp.DateDiff) -> exp.Expr:
    """Count the boundaries between two times, as DuckDB does; Spark counts whole units."""
    end, start, unit = node.this, node.expression, unit_of(node) or "DAY"
    match unit:
        case "DAY":
            result: exp.Expr = call("DATEDIFF", end, start)
        case "WEEK":
            # DuckDB counts whole weeks, not Mondays.
            days = call("DATEDIFF", end, start)
            result = exp.paren(exp.IntDiv(this=days, expression=number(7)), copy=False)
        case "YEAR":
            result = _difference(call("YEAR", end), call("YEAR", start))
        case "QUARTER" | "MONTH":
            each_year = number(4 if unit == "QUARTER" else 12)
            years = _difference(call("YEAR", end), call("YEAR", start))
            parts = _difference(call(unit, end), call(unit, start))
            total = exp.Add(this=exp.Mul(this=years, expression=each_year), expression=parts)
            result = exp.paren(total, copy=False)
        case "HOUR" | "MINUTE" | "SECOND":
            cut = [call("DATE_TRUNC", string(unit), each) for each in (start, end)]
            result = call("TIMESTAMPDIFF", exp.Var(this=unit), *cut)
        case _:
            raise Refusal(f"there is no difference in {unit}", "use a unit between SECOND and YEAR")
    result.meta[GIVEN] = Kind.INTEGER
    return result


def _difference(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.paren(exp.Sub(this=left, expression=right), copy=False)


def _day_of_week(node: exp.DayOfWeek) -> exp.Expr:
    sunday = _difference(call("DAYOFWEEK", node.this), number(1))
    sunday.meta[GIVEN] = Kind.INTEGER
    return sunday


def _formatted(node: exp.TimeToStr) -> exp.Expr:
    pattern = text(node.args.get("format"))
    if pattern is None or not _STRFTIME.fullmatch(pattern):
        raise Refusal(
            "only year, month, day, hour, minute and second are formatted alike",
            "use %Y %m %d %H %M %S (YYYY MM DD HH24 MI SS) and plain separators",
        )
    java = re.sub(r"%([YmdHMS])", lambda found: _JAVA[found[1]], pattern)
    return call("DATE_FORMAT", node.this, string(java), kind=Kind.TEXT)


_JAVA = {"Y": "yyyy", "m": "MM", "d": "dd", "H": "HH", "M": "mm", "S": "ss"}


def _from_seconds(*, naive: bool) -> Rule:
    def rule(node: exp.UnixToTime) -> exp.Expr:
        if node.args.get("scale") or node.args.get("format"):
            raise Refusal("only seconds are read alike", "divide to seconds first")
        if kind_of(node.this) is Kind.TEXT:
            raise Refusal("a text is read as a time there", "CAST the text to TIMESTAMP")
        instant = call("TIMESTAMP_SECONDS", node.this, kind=Kind.INSTANT)
        return cast(instant, "timestampntz") if naive else instant

    return rule


def _at_zone(node: exp.AtTimeZone) -> exp.Expr:
    kind = kind_of(node.this)
    if kind is Kind.INSTANT:
        local = cast(node.this, "timestampntz")
        return call("CONVERT_TIMEZONE", node.args["zone"], local, kind=Kind.TIMESTAMP)
    if kind is Kind.TIMESTAMP:
        raise Refusal(
            "the hour that a clock shows twice in autumn is read differently there",
            "keep instants: TIMESTAMPTZ, or an offset in the text",
        )
    raise Refusal(
        "which way AT TIME ZONE converts depends on the type", "CAST to TIMESTAMPTZ first"
    )


_PARSED = refused(
    "texts that do not fit the pattern are treated differently",
    "CAST a text like '2024-01-31 10:00:00' to TIMESTAMP or DATE",
)
_NO_SUCH = refused("it is not the same function there", "add an interval: d + INTERVAL '1' DAY")
_ENGLISH = refused("names of days and months differ", "use the number of the day or month")

COMMON: dict[type[exp.Expr], Rule] = {
    **all_same(
        *(exp.Year, exp.Month, exp.Day, exp.Quarter, exp.WeekOfYear, exp.DayOfMonth),
        *(exp.DayOfYear, exp.Hour, exp.Minute, exp.Second, exp.DateFromParts, exp.CurrentDate),
        exp.CurrentTimestamp,
    ),
    exp.LastDay: same,
    exp.Week: lambda node: call("WEEKOFYEAR", node.this, kind=Kind.INTEGER),
    exp.DayOfWeekIso: lambda node: _difference(call("WEEKDAY", node.this), exp.Neg(this=number(1))),
    exp.Monthname: _ENGLISH,
    exp.Dayname: _ENGLISH,
    exp.ToDays: _NO_SUCH,
    exp.Interval: _interval,
    exp.DateDiff: _boundaries,
    exp.AtTimeZone: _at_zone,
    exp.TimeToStr: _formatted,
    **dict.fromkeys((exp.StrToTime, exp.StrToDate, exp.StrToUnix, exp.TsOrDsToDate), _PARSED),
    **dict.fromkeys((exp.DateAdd, exp.DateSub, exp.TsOrDsAdd, exp.TimestampAdd), _NO_SUCH),
    exp.DayOfWeek: _day_of_week,
}


def _rules(*, date_stays: bool, date_zoned: bool, seconds: str) -> dict[type[exp.Expr], Rule]:
    return {
        exp.Add: shifted(date_stays=date_stays),
        exp.Sub: shifted(date_stays=date_stays),
        exp.Extract: _extract(seconds),
        exp.DateTrunc: truncated(date_zoned=date_zoned),
        exp.TimestampTrunc: truncated(date_zoned=date_zoned),
        exp.UnixToTime: _from_seconds(naive=date_stays),
    }


DUCKDB = _rules(date_stays=False, date_zoned=False, seconds="whole")
POSTGRES = _rules(date_stays=False, date_zoned=True, seconds="decimal")
DATAFUSION = _rules(date_stays=True, date_zoned=False, seconds="whole")
