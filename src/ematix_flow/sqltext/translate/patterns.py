"""Regular expressions and LIKE patterns on their way to Java's, which is what Spark runs."""

from __future__ import annotations

import re

from sqlglot import exp

from ematix_flow.sqltext.translate.build import Rule, call, number, refused, string
from ematix_flow.sqltext.translate.kinds import Kind, text
from ematix_flow.sqltext.translate.refusal import Refusal

# What every engine reads alike: literals, classes, groups, greedy quantifiers, anchors.
_SHARED = re.compile(
    r"(?:[^\\\[\](){}*+?|^$]|[|^$()]|[*+?](?![+?])|\{\d+(?:,\d*)?\}(?![+?])"
    r"|\[\^?(?:[^\\\[\]&]|\\[\\.\-\]\[/])+\]|\\[\\.*+?()\[\]{}|^$/\-])*"
)
_CLASSES = re.compile(r"\\([dDwWsS])")
_LITERAL = "write the pattern as a literal"


def java(pattern: exp.Expr, *, dialect: str, whole_match: bool) -> str:
    """Return a literal pattern of *dialect* as Java's; what they read differently is refused."""
    written = text(pattern)
    if written is None:
        raise Refusal("a pattern that is computed cannot be checked", _LITERAL)
    bare = written
    if dialect == "duckdb":
        # RE2's are ASCII, and so are Java's; elsewhere they follow Unicode or the locale.
        bare = _CLASSES.sub("x", written)
    if not _SHARED.fullmatch(bare) or "(?" in bare:
        raise Refusal(
            "this pattern uses what regular expression engines read differently",
            "keep to literals, [classes], (groups), | * + ? {n,m} ^ $; [0-9] for \\d",
        )
    if dialect == "postgres" and whole_match and "|" in bare:
        raise Refusal("PostgreSQL prefers the longest alternative, Spark the first", "avoid | here")
    # `.` stops at a line feed only (RE2, Rust) or nowhere (PostgreSQL); Java has more ends of line,
    # and its `$` would match before a last one.
    flag = "(?s)" if dialect == "postgres" else "(?d)"
    translated = re.sub(r"(\\.|\[\^?(?:\\.|[^\]])+\])|\$", lambda m: m[1] or r"\z", written)
    return (flag if "." in bare else "") + translated


def matches(dialect: str, *, ignore_case: bool = False) -> Rule:
    """Say that a text contains a match."""

    def rule(node: exp.Binary | exp.Func) -> exp.Expr:
        flag = node.args.get("flag")
        if flag is not None and text(flag) not in ("", "i"):
            raise Refusal("flags of patterns differ", "only 'i' is known")
        pattern = java(node.expression, dialect=dialect, whole_match=False)
        folded = "(?i)" if ignore_case or (flag is not None and text(flag) == "i") else ""
        return exp.RegexpLike(this=node.this.copy(), expression=string(folded + pattern))

    return rule


def replaces(dialect: str) -> Rule:
    """Replace every match: without 'g' only the first is meant, which Spark cannot say."""

    def rule(node: exp.RegexpReplace) -> exp.Expr:
        modifiers = text(node.args.get("modifiers")) or ""
        if modifiers != "g" and not (modifiers == "" and node.args.get("single_replace") is False):
            raise Refusal(
                "only the first match is replaced here, and every one there", "add the flag 'g'"
            )
        replacement = text(node.args.get("replacement"))
        if replacement is None:
            raise Refusal("a replacement that is computed cannot be checked", _LITERAL)
        pattern = java(node.expression, dialect=dialect, whole_match=True)
        escaped = replacement.replace("$", r"\$")
        escaped = re.sub(r"\\(\d)", r"$\1", escaped) if dialect != "datafusion" else escaped
        if dialect == "datafusion" and ("$" in replacement or "\\" in replacement):
            raise Refusal(
                "groups in a replacement are written differently", "replace by plain text"
            )
        return call("REGEXP_REPLACE", node.this, string(pattern), string(escaped), kind=Kind.TEXT)

    return rule


def _extract(node: exp.RegexpExtract) -> exp.Expr:
    if node.args.get("parameters"):
        raise Refusal("flags of patterns differ", "leave them out")
    pattern = java(node.expression, dialect="duckdb", whole_match=True)
    group = node.args.get("group") or number(0)
    return call("REGEXP_EXTRACT", node.this, string(pattern), group, kind=Kind.TEXT)


def like_with_backslash(node: exp.Like | exp.ILike) -> exp.Expr:
    """Keep a backslash plain, as in DuckDB: in Spark's patterns it escapes."""
    if isinstance(node.parent, exp.Escape):
        return node
    pattern = node.expression
    literal = text(pattern)
    if isinstance(pattern, exp.Any | exp.All | exp.Tuple):
        raise Refusal("a list of patterns is not known there", "join the LIKE conditions with OR")
    if literal is not None:
        node.set("expression", string(literal.replace("\\", "\\\\")))
    else:
        node.set("expression", call("REPLACE", pattern, string("\\"), string("\\\\")))
    return node


def like(node: exp.Like | exp.ILike) -> exp.Expr:
    """Keep LIKE, in which a backslash escapes on both sides."""
    if isinstance(node.expression, exp.Any | exp.All | exp.Tuple):
        raise Refusal("a list of patterns is not known there", "join the LIKE conditions with OR")
    return node


def _full(dialect: str) -> Rule:
    def rule(node: exp.RegexpFullMatch) -> exp.Expr:
        if node.args.get("options") or node.args.get("flag"):
            raise Refusal("flags of patterns differ", "leave them out")
        pattern = java(node.expression, dialect=dialect, whole_match=False)
        return exp.RegexpLike(this=node.this.copy(), expression=string(f"^(?:{pattern})\\z"))

    return rule


def _count(dialect: str) -> Rule:
    def rule(node: exp.RegexpCount) -> exp.Expr:
        if node.args.get("position") or node.args.get("parameters"):
            raise Refusal("only the text and the pattern are known there", "leave the others out")
        pattern = java(node.expression, dialect=dialect, whole_match=True)
        return call("REGEXP_COUNT", node.this, string(pattern), kind=Kind.INTEGER)

    return rule


_ARRAYS = refused("it returns matches as an array", "use a boolean match, or regexp_replace")


def _rules(dialect: str) -> dict[type[exp.Expr], Rule]:
    return {
        exp.RegexpLike: matches(dialect),
        exp.RegexpILike: matches(dialect, ignore_case=True),
        exp.RegexpFullMatch: _full(dialect),
        exp.RegexpReplace: replaces(dialect),
        exp.RegexpCount: _count(dialect),
        exp.RegexpExtract: _ARRAYS,
        exp.RegexpSplit: refused("splitting on a pattern differs", "split on a plain text"),
        exp.Like: like,
        exp.ILike: like,
        exp.Escape: lambda node: node,
        exp.Glob: refused("there is no GLOB", "use LIKE or a regular expression"),
    }


DUCKDB: dict[type[exp.Expr], Rule] = {
    **_rules("duckdb"),
    exp.RegexpExtract: _extract,
    exp.Like: like_with_backslash,
    exp.ILike: like_with_backslash,
}
POSTGRES = _rules("postgres")
DATAFUSION = _rules("datafusion")
