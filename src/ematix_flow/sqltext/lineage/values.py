"""An expression into what its value comes from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ematix_flow.sqltext.lineage.names import written
from ematix_flow.sqltext.lineage.scope import Aliases, Scope
from ematix_flow.sqltext.lineage.trace import Trace, computed, merged, unknown

if TYPE_CHECKING:
    from ematix_flow.sqltext.lineage.reader import Reader


def trace(reader: Reader, scope: Scope, node: exp.Expr, aliases: Aliases = "last") -> Trace:
    """Return the trace of any expression.

    All columns in it count, those of a CASE's conditions and of a window's PARTITION BY too.
    """
    while isinstance(node, exp.Alias | exp.Paren):
        node = node.this
    if isinstance(node, exp.Column) and not node.is_star:
        return column(reader, scope, node, aliases)
    if isinstance(node, exp.Subquery | exp.Select | exp.SetOperation):
        # A scalar subquery's value is that of its column.
        return merged(output.trace for output in reader.query(node, scope.ctes, scope).outputs)
    return _Expression(reader, scope, aliases).trace(node)


def column(reader: Reader, scope: Scope, node: exp.Column, aliases: Aliases) -> Trace:
    """Return the trace of a column reference."""
    parts = [(part.name, reader.names.key(part)) for part in node.parts]
    return scope.resolve(parts, aliases)


class _Expression:
    """One expression, walked with a stack: a chain of a thousand ORs is a deep tree."""

    def __init__(self, reader: Reader, scope: Scope, aliases: Aliases) -> None:
        self.reader, self.scope, self.aliases = reader, scope, aliases
        self.parts: list[Trace] = []
        self.aggregate = False
        self.pending: list[tuple[exp.Expr, bool]] = []

    def trace(self, node: exp.Expr) -> Trace:
        self.pending.append((node, False))
        while self.pending:
            each, windowed = self.pending.pop()
            found = self._found(each)
            if found is None:
                self._look_into(each, windowed=windowed)
            else:
                self.parts += found
        return computed(self.parts, aggregate=self.aggregate)

    def _found(self, node: exp.Expr) -> list[Trace] | None:
        """Return the traces of what has a trace as a whole, None for what has parts."""
        match node:
            case exp.Column() if node.is_star:
                return self._all_of(node)
            case exp.Column():
                return [column(self.reader, self.scope, node, self.aliases)]
            case exp.Exists():
                return [self.reader.existence(node, self.scope)]
            case exp.Query():
                rows = self.reader.query(node, self.scope.ctes, self.scope)
                return [output.trace for output in rows.outputs]
            case exp.Comprehension():
                return self._comprehension(node)
            case exp.Columns() | exp.PositionalColumn():
                return [self._unknown(node)]
            case exp.Star() if not isinstance(node.parent, exp.Count):
                return [output.trace for output in self.scope.outputs()]
        return None

    def _look_into(self, node: exp.Expr, *, windowed: bool) -> None:
        match node:
            case exp.Window():
                self._window(node)
            case exp.Filter() | exp.IgnoreNulls() | exp.RespectNulls() | exp.WithinGroup():
                # Around a function that OVER turns into a window function: no aggregate then.
                self._below(node, but=node.this)
                self.pending.append((node.this, windowed))
            case exp.AggFunc() if not windowed:
                self.aggregate = True
                self._rows_if_no_column(node)
                self._below(node)
            case _:
                self._below(node)

    def _below(self, node: exp.Expr, but: exp.Expr | None = None) -> None:
        # Last in, first out: reversed, the sources come in the order they are written.
        children = [child for child in node.iter_expressions(reverse=True) if child is not but]
        self.pending.extend((child, False) for child in children)

    def _window(self, node: exp.Window) -> None:
        name = node.args.get("alias")
        over = self.scope.windows.get(self.reader.names.key(name)) if name else None
        if over is not None:
            self._below(over)
        self._below(node, but=node.this)
        self.pending.append((node.this, True))
        if over is None or over.find(exp.Column) is None:
            self._rows_if_no_column(node)

    def _rows_if_no_column(self, node: exp.Expr) -> None:
        """Note that `count(*)` and `row_number() OVER ()` read rows but no column of them."""
        if node.find(exp.Column, exp.Query) is None:
            self.parts.append(Trace("expression", rows_of=self.scope.tables))

    def _all_of(self, star: exp.Column) -> list[Trace]:
        relation = self.scope.relations.get(self.reader.names.key(star.parts[0]))
        if relation is None:
            return [self._unknown(star)]
        return [output.trace for output in relation.outputs]

    def _unknown(self, node: exp.Expr) -> Trace:
        return unknown(f"what {written(node, self.reader.dialect)} stands for is not known")

    def _comprehension(self, node: exp.Comprehension) -> list[Trace]:
        """Trace `[x + y FOR x IN xs]`: within it, `x` is an element of `xs`."""
        iterator = trace(self.reader, self.scope, node.args["iterator"], self.aliases)
        element = {self.reader.names.key(node.expression): iterator}
        inner = replace(self.scope, shared={**self.scope.shared, **element})
        parts = filter(None, (node.this, node.args.get("condition")))
        return [iterator, *(trace(self.reader, inner, part) for part in parts)]
