"""A condition of the user's, written in Spark's SQL, where it means the same in a database.

Comparisons of a column with a constant of its own type, and what joins them: more is Spark's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from ematix_flow.spec.normalize.family import Family, family_of
from ematix_flow.spec.types import JSON, JSONB, UUID, DataType, Double, Float, Numeric, Text
from ematix_flow.sqltext.dialect_names import grammar_of
from ematix_flow.sqltext.in_database.unproven import Unproven
from ematix_flow.sqltext.program.grammar import Grammar

_JOINED = {exp.And: "AND", exp.Or: "OR"}
_COMPARED = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
# Of text only equality is the same everywhere: its order is a language's.
_OF_TEXT = (exp.EQ, exp.NEQ)


@dataclass(frozen=True, slots=True)
class Known:
    """A column of the query, as SQL, and what it holds."""

    sql: str
    kind: DataType | None


def proven_condition(condition: str, columns: Mapping[str, Known], dialect: str) -> str:
    """Return *condition* in *dialect*; Unproven where it may mean something else there.

    :param columns: By their names in lower case.
    """
    try:
        parsed = parse_one(condition, dialect="spark")
        return _Proof(columns, dialect).of(parsed)
    except (_Unknown, SqlglotError) as error:
        raise Unproven(f"only Spark is known to read the condition {condition!r}") from error


class _Unknown(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Proof:
    columns: Mapping[str, Known]
    dialect: str

    def of(self, node: exp.Expr) -> str:
        match node:
            case exp.Paren():
                return self.of(node.this)
            case exp.And() | exp.Or():
                return f"({self.of(node.left)} {_JOINED[type(node)]} {self.of(node.right)})"
            case exp.Not():
                return f"(NOT {self.of(node.this)})"
            case exp.Is(this=exp.Column() as column, expression=exp.Null()):
                return f"({self._known(column).sql} IS NULL)"
            case exp.In(this=exp.Column() as column) if node.expressions:
                known = self._known(column)
                listed = ", ".join(self._constant(each, known) for each in node.expressions)
                return f"({self._value(known)} IN ({listed}))"
            case exp.Column():
                known = self._known(node)
                if self._family(known) is not Family.BOOLEAN:
                    raise _Unknown
                return f"({known.sql} = TRUE)" if self.dialect == "sqlite" else known.sql
            case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
                return self._compared(node)
            case _:
                raise _Unknown

    def _compared(self, node: exp.Binary) -> str:
        if not isinstance(node.left, exp.Column):
            raise _Unknown
        known = self._known(node.left)
        if self._family(known) is not Family.NUMBER and not isinstance(node, _OF_TEXT):
            raise _Unknown
        constant = self._constant(node.right, known)
        return f"({self._value(known)} {_COMPARED[type(node)]} {constant})"

    def _known(self, column: exp.Column) -> Known:
        found = self.columns.get(column.name.casefold())
        if found is None or column.table:
            raise _Unknown
        return found

    def _family(self, known: Known) -> Family:
        if known.kind is None or isinstance(known.kind, UUID | JSON | JSONB | Float | Double):
            return Family.OTHER
        if self.dialect == "sqlite" and isinstance(known.kind, Numeric):
            return Family.OTHER  # it is text there
        return family_of(known.kind)

    def _value(self, known: Known) -> str:
        """Return a column so that its texts compare byte by byte, whatever its collation."""
        assert known.kind is not None  # else its constant was refused
        return Grammar(self.dialect).comparable(known.sql, known.kind)

    def _constant(self, node: exp.Expr, known: Known) -> str:
        match self._family(known), node:
            case Family.TEXT, exp.Literal(is_string=True):
                text = node.sql(dialect=grammar_of(self.dialect))
                return Grammar(self.dialect).comparable(text, Text())
            case Family.NUMBER, exp.Literal(is_string=False) if node.name.isdigit():
                return node.name
            case Family.NUMBER, exp.Neg(this=exp.Literal(is_string=False) as literal) if (
                literal.name.isdigit()
            ):
                return f"-{literal.name}"
            case Family.BOOLEAN, exp.Boolean():
                return "TRUE" if node.this else "FALSE"
            case _:
                raise _Unknown
