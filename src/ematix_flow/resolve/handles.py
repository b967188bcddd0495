"""What a pipeline's function is given while it is planned: names, never rows.

A function that only writes SQL puts them into its text. One that asks them for rows is frame
code; it is called again by the engine, with the real thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from ematix_flow.errors import DeclarationError
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.identifiers import table


class NeedsSpark(BaseException):  # a signal, not an error
    """The function works on rows. Not an Exception: user code must not swallow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHandle:
    """The `src` of a function: where its source_connection leads."""

    connection: str
    kind: str

    def __format__(self, spec: str) -> str:
        raise DeclarationError(
            f"src is the whole source ({self.connection}), and a query reads tables",
            hint="write the table's name, or take the rows: src.table(...), src.query(...)",
        )

    def table(self, name: str) -> NoReturn:
        """Ask for a table's rows."""
        del name
        raise NeedsSpark

    def query(self, sql: str) -> NoReturn:
        """Ask for a query's rows."""
        del sql
        raise NeedsSpark


class TableHandle:
    """A table by name: the `tgt` of a function, another pipeline's target, a declared table.

    In an f-string it is the table's name, quoted for the query's dialect.
    """

    __slots__ = ("_dialect", "_name")

    def __init__(self, name: TableName, dialect: str) -> None:
        self._name = name
        self._dialect = dialect

    def __str__(self) -> str:
        return table(self._name).sql(dialect=self._dialect)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __getattr__(self, name: str) -> NoReturn:
        # Anything else is a frame's method.
        if name.startswith("__"):
            raise AttributeError(name)
        raise NeedsSpark

    def __getitem__(self, key: object) -> NoReturn:
        raise NeedsSpark


class ForeignHandle(TableHandle):
    """A table in another connection than the query's: frame code can read it, SQL cannot name it.

    SQL over its parameters' own names (`FROM orders`) is run by Spark.
    """

    __slots__ = ("_refusal",)

    def __init__(self, name: TableName, dialect: str, refusal: DeclarationError) -> None:
        super().__init__(name, dialect)
        self._refusal = refusal

    def __format__(self, spec: str) -> NoReturn:
        raise self._refusal
