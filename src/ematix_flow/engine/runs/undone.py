"""A target on which nothing stays: what a dry run commits to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

from ematix_flow.ports import ActualColumn, StagedRows, Target, TargetSession
from ematix_flow.spec.table import Table, TableName
from ematix_flow.sqltext.bookkeeping import LEDGER, Bookkeeping, bookkeeping
from ematix_flow.sqltext.ddl import create_table
from ematix_flow.sqltext.dialect_names import grammar_of, is_mysql
from ematix_flow.sqltext.identifiers import table as table_node


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneTarget:
    """A target in which the tables of a commit are there while it is open.

    :param tables: What a commit writes; where one is missing, an empty one stands in for it.
    """

    target: Target
    tables: tuple[Table, ...]

    @property
    def dialect(self) -> str:
        """The SQL it speaks."""
        return self.target.dialect

    def exists(self) -> bool:
        """Tell whether the database is there."""
        return self.target.exists()

    @contextmanager
    def open(self) -> Iterator[TargetSession]:
        """Open it, with a stand-in for each table that is missing."""
        with self.target.open() as session, ExitStack() as stack:
            for table in self.tables:
                if session.columns(table.name) is None:
                    stack.enter_context(_standing_in(session, table, self.dialect))
            yield _UndoneSession(session, bookkeeping(self.dialect))

    def open_read_only(self) -> AbstractContextManager[TargetSession]:
        """Open it for looking only."""
        return self.target.open_read_only()


@contextmanager
def _standing_in(session: TargetSession, table: Table, dialect: str) -> Iterator[None]:
    create = create_table(table, table.name, dialect)
    if table.name.schema is None and not is_mysql(dialect):
        # It goes with the session, whatever happens.
        session.execute(create.replace("CREATE TABLE", "CREATE TEMP TABLE", 1))
        yield
        return
    session.execute(create)
    try:
        yield
    finally:
        session.execute(f"DROP TABLE {table_node(table.name).sql(dialect=grammar_of(dialect))}")


@dataclass(frozen=True, slots=True)
class _UndoneSession:
    """A session that has no ledger and no fence, and needs none: nothing of it stays."""

    session: TargetSession
    sql: Bookkeeping

    def columns(self, table: TableName) -> tuple[ActualColumn, ...] | None:
        return None if table == LEDGER.name else self.session.columns(table)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        if sql in (self.sql.hold_fence, self.sql.insert_ledger, self.sql.prune_ledger):
            return 1
        return self.session.execute(sql, parameters)

    def fetch(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        if sql == self.sql.hold_fence:
            return [(0,)]
        if sql == self.sql.read_last(frozenset(LEDGER.column_names)):
            return []
        return self.session.fetch(sql, parameters)

    def show_staging(self, staged: StagedRows, table: Table, relation: str) -> None:
        self.session.show_staging(staged, table, relation)

    def transaction(self) -> AbstractContextManager[None]:
        return self.session.transaction()
