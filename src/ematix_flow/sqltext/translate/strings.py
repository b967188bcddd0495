"""Text functions on their way to Spark."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.sqltext.translate.build import (
    Rule,
    all_same,
    call,
    number,
    refused,
    same,
    string,
    unless,
)
from ematix_flow.sqltext.translate.kinds import Kind, integer, kind_of, text
from ematix_flow.sqltext.translate.refusal import Refusal


def _substring(node: exp.Substring) -> exp.Expr:
    start, length = node.args.get("start"), node.args.get("length")
    if start is None or kind_of(start) is Kind.TEXT:
        raise Refusal(
            "SUBSTRING by pattern is not known there", "use a regular expression function"
        )
    return _at_least(_at_least(node, start, 1, "start"), length, 0, "length")


def _ends(node: exp.Left | exp.Right) -> exp.Expr:
    return _at_least(node, node.expression, 0, "length")


def _at_least(node: exp.Expr, argument: exp.Expr | None, least: int, what: str) -> exp.Expr:
    """Keep *node* where *argument* is not less; below, every engine counts differently."""
    if argument is None:
        return node
    value = integer(argument)
    if value is None:
        below = exp.LT(this=exp.paren(argument.copy(), copy=False), expression=number(least))
        return unless(below, f"{node.key}: {what} below {least}", node)
    if value < least:
        raise Refusal(
            f"a {what} below {least} means something else there",
            "count from the front, with length(...) - n",
        )
    return node


def _concat(node: exp.Concat) -> exp.Expr:
    if any(kind_of(each) in (Kind.ARRAY, Kind.DOUBLE) for each in node.expressions):
        raise Refusal(
            "CONCAT of arrays or doubles differs", "use || for arrays; CAST doubles to DECIMAL"
        )
    # CONCAT skips NULL here; Spark's does not, but its CONCAT_WS does.
    return call("CONCAT_WS", string(""), *node.expressions, kind=Kind.TEXT)


def _split_part(node: exp.SplitPart) -> exp.Expr:
    if text(node.args.get("delimiter")) == "":
        raise Refusal("splitting on nothing differs", "give a delimiter")
    return node


def _character(node: exp.Chr) -> exp.Expr:
    codes = [integer(each) for each in node.expressions]
    if any(code is None or not 0 < code < 128 for code in codes):
        raise Refusal("Spark's CHR counts modulo 256", "write the character itself")
    return node


def _length(node: exp.Length) -> exp.Expr:
    if kind_of(node.this) is Kind.ARRAY:
        return exp.ArraySize(this=node.this.copy())
    return node


def _pad(node: exp.Pad) -> exp.Expr:
    return _at_least(node, node.expression, 0, "length")


def _two_arguments(node: exp.StrPosition) -> exp.Expr:
    if node.args.get("position") or node.args.get("occurrence"):
        raise Refusal("it takes a text and what to find", "cut the text with substr first")
    return node


_BINARY = refused("it returns bytes here and text there", "use md5(...)")

COMMON: dict[type[exp.Expr], Rule] = {
    **all_same(
        *(exp.Upper, exp.Lower, exp.Trim, exp.Replace, exp.Repeat, exp.Reverse, exp.Translate),
        *(exp.StartsWith, exp.EndsWith, exp.Ascii, exp.MD5, exp.ConcatWs, exp.BitLength),
        exp.Contains,
    ),
    exp.StrPosition: _two_arguments,
    exp.Length: _length,
    exp.Substring: _substring,
    exp.Left: _ends,
    exp.Right: _ends,
    exp.Concat: _concat,
    exp.SplitPart: _split_part,
    exp.Chr: _character,
    exp.Pad: _pad,
    exp.Initcap: refused("a word ends elsewhere there", "use upper(...) and lower(...)"),
    exp.SHA2: _BINARY,
    exp.SHA2Digest: _BINARY,
    exp.Overlay: same,
    exp.Format: refused("formats differ", "join the parts with ||"),
}


DUCKDB: dict[type[exp.Expr], Rule] = {exp.SHA2: lambda node: node}
