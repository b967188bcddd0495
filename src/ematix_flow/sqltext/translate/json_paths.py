"""JSON paths on their way to Spark's GET_JSON_OBJECT."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.sqltext.dialect import as_written
from ematix_flow.sqltext.translate.build import Rule, call, refused, string, unless
from ematix_flow.sqltext.translate.kinds import GIVEN, Kind
from ematix_flow.sqltext.translate.refusal import Refusal

_JSON_TYPES = (exp.DataType.Type.JSON, exp.DataType.Type.JSONB)
_EXTRACTS = (exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.JSONBExtractScalar)


def _scalar(node: exp.JSONExtractScalar) -> exp.Expr:
    """Read one value as text: the whole chain of arrows as one path."""
    document, path = _chain(node)
    malformed = exp.and_(
        exp.Is(this=call("TRY_PARSE_JSON", document), expression=exp.null()),
        exp.not_(exp.Is(this=document.copy(), expression=exp.null())),
    )
    value = call("GET_JSON_OBJECT", document, string(path))
    guarded = unless(malformed, "this is not JSON", value)
    guarded.meta[GIVEN] = Kind.TEXT
    return guarded


def _object(node: exp.JSONExtract) -> exp.Expr:
    """Leave a link of a chain to its end; at the end JSON itself would lose its quotes."""
    if isinstance(node.parent, _EXTRACTS) and node.arg_key == "this":
        return node
    raise Refusal("a JSON text loses its quotes there", "read the value as text with ->>")


def _chain(node: exp.Expr) -> tuple[exp.Expr, str]:
    if isinstance(node, _EXTRACTS):
        document, path = _chain(node.this)
        return document, path + _step(node)
    if isinstance(node, exp.Cast) and node.to.this in _JSON_TYPES:
        return node.this, "$"
    if isinstance(node, exp.Paren):
        return _chain(node.this)
    return node, "$"


def _step(node: exp.Expr) -> str:
    path = node.args.get("expression")
    if not isinstance(path, exp.JSONPath):
        raise Refusal("a path that is computed is not known there", "write the path as a literal")
    keys = [part.this for part in path.find_all(exp.JSONPathKey)]
    written = as_written(node.root())
    if len(keys) > 1 and written and f"'{'.'.join(map(str, keys))}'" in written:
        # Without `$` it names one key, dots and all; sqlglot reads a path.
        raise Refusal("a key with a dot is not a path here", "write '$.a.b' for a path")
    return "".join(_part(each) for each in path.expressions)


def _part(part: exp.Expr) -> str:
    match part:
        case exp.JSONPathRoot():
            return ""
        case exp.JSONPathKey() if isinstance(part.this, str):
            if any(char in part.this for char in "'[]*\"\\"):
                raise Refusal("this key cannot be written in a path there", "rename the key")
            return f"['{part.this}']"
        case exp.JSONPathSubscript() if isinstance(part.this, int) and part.this >= 0:
            return f"[{part.this}]"
        case _:
            raise Refusal(
                "only names and positions are read alike in a path", "take one value at a time"
            )


def _cast(rule: Rule) -> Rule:
    """Let a cast to JSON pass where an arrow follows: the arrow checks the text itself."""

    def checked(node: exp.Cast) -> exp.Expr:
        if node.to.this in _JSON_TYPES:
            above = node.parent.parent if isinstance(node.parent, exp.Paren) else node.parent
            if isinstance(above, _EXTRACTS):
                return node
            raise Refusal("there is no JSON type", "keep the JSON as text, and read it with ->>")
        return rule(node)

    return checked


def with_json(rules: dict[type[exp.Expr], Rule]) -> dict[type[exp.Expr], Rule]:
    """Add the rules of JSON to *rules*, whose CAST then knows it."""
    return {**rules, **_COMMON, exp.Cast: _cast(rules[exp.Cast])}


_WRITTEN = refused("JSON is written differently there", "keep a struct, or build the text with ||")

_COMMON: dict[type[exp.Expr], Rule] = {
    exp.JSONExtractScalar: _scalar,
    exp.JSONExtract: _object,
    exp.JSONPath: lambda node: node,
    exp.JSONPathRoot: lambda node: node,
    exp.JSONPathKey: lambda node: node,
    exp.JSONPathSubscript: lambda node: node,
    exp.JSONBExtractScalar: refused("a path in braces is not known there", "chain -> and ->>"),
    exp.JSONBExtract: refused("a path in braces is not known there", "chain -> and ->>"),
    exp.JSONObject: _WRITTEN,
    exp.JSONFormat: _WRITTEN,
    exp.ParseJSON: _WRITTEN,
}
