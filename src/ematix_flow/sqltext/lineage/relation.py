"""What stands in a FROM: a table, a subquery, a CTE, a function; each with its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ematix_flow.spec.lineage import ColumnRef
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.lineage.trace import Trace, merged, unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A column of a relation; with `all_of`, all those of a table whose columns are not known.

    :param key: its name as names are compared in the dialect.
    :param without: of an `all_of`, the keys that the query left out or gave otherwise.
    :param blur: of an `all_of`, what is unknown about any column that is found through it.
    """

    name: str
    key: str
    trace: Trace
    all_of: TableName | None = None
    without: frozenset[str] = frozenset()
    blur: tuple[str, ...] = ()

    def lacking(self, gap: str) -> Output:
        """Return this column with one thing more that is not known of it."""
        return replace(
            self, trace=self.trace.with_gaps((gap,)), blur=tuple(dict.fromkeys((*self.blur, gap)))
        )


def column_of(table: TableName, name: str, key: str) -> Output:
    """Return a column of a table that is read."""
    return Output(name=name, key=key, trace=Trace("column", (ColumnRef(table=table, column=name),)))


def every_column_of(table: TableName) -> Output:
    """Return what stands for the columns of a table whose columns are not known."""
    gap = f"the columns of {table} are not known"
    return Output(name="*", key="*", trace=unknown(gap), all_of=table)


def named(outputs: Sequence[Output], names: Sequence[tuple[str, str]]) -> tuple[Output, ...]:
    """Return *outputs* renamed by position, as `AS t(a, b)` does; *names* with their keys."""
    if names and any(output.all_of for output in outputs):
        gap = f"{', '.join(name for name, _ in names)} name columns that are not known"
        return tuple(Output(name=name, key=key, trace=unknown(gap)) for name, key in names)
    renamed = (
        replace(output, name=name, key=key)
        for output, (name, key) in zip(outputs, names, strict=False)
    )
    return (*renamed, *outputs[len(names) :])


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Columns under one alias.

    :param path: the folded parts of a table's own name, by which its columns may be qualified.
    :param tables: the tables whose rows it is made of.
    :param any_column: the trace of a column whatever its name: that of a table function.
    :param shown: whether `*` shows it; a semi join's right side is only looked at.
    """

    alias: str
    outputs: tuple[Output, ...]
    tables: tuple[TableName, ...] = ()
    path: tuple[str, ...] = ()
    any_column: Trace | None = None
    shown: bool = True

    def certain(self, key: str) -> Trace | None:
        """Return the column of this name, if it is known to be there."""
        for output in self.outputs:
            if output.key == key and not output.all_of:
                return output.trace
        # The columns of a table may be given in another case than the database keeps them in.
        folded = key.casefold()
        for output in self.outputs:
            if output.key.casefold() == folded and not output.all_of:
                return output.trace
        return None

    def possible(self, name: str, key: str) -> Trace | None:
        """Return the column of this name, if it may be there."""
        if self.any_column:
            return None
        unclear = [each for each in self.outputs if each.key == "*"]
        found = [each for each in unclear if key not in each.without]
        tables = [each.all_of for each in found if each.all_of]
        if len(tables) < len(found):
            return merged(each.trace for each in found if not each.all_of)
        if not found:
            return None
        if len(found) > 1:
            return unknown(f"{name} is a column of {_either(tables)}: their columns are not known")
        # As the query spells it, folded: two spellings in one query are one column.
        return Trace("column", (ColumnRef(table=tables[0], column=key),), gaps=found[0].blur)

    def find(self, name: str, key: str) -> Trace | None:
        """Return the column of this name, for a reference that names the relation too."""
        return self.certain(key) or self.possible(name, key) or self.any_column


def _either(tables: Sequence[TableName]) -> str:
    return " or ".join(sorted({str(each) for each in tables}))
