"""A table, a mode and a database, loaded from the driver on pre-staged rows: no JVM."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ematix_flow._base.location import Location
from ematix_flow.plan.layout import layout_of
from ematix_flow.plan.steps import Commit
from ematix_flow.ports import LedgerEntry, StagedFiles, Target
from ematix_flow.spec.arrow_type import arrow_type
from ematix_flow.spec.layout import Layout
from ematix_flow.spec.pipeline import TargetSpec, WriteOptions
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import BigInt, String, Text
from ematix_flow.sqltext.bookkeeping import LEDGER, bookkeeping
from ematix_flow.sqltext.ddl import create_table
from ematix_flow.sqltext.program import write_program
from ematix_flow.sqltext.program.companion import companion_of
from ematix_flow.sqltext.program.grammar import Grammar
from ematix_flow.write.commit import Attempt, commit
from ematix_flow.write.fence import take_fence

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HERE = Location("x.py", 1)
DAY = timedelta(days=1)
TABLE = Table(
    name=TableName(name="t"),
    location=HERE,
    columns=(
        Column(name="a", type=String(20), primary_key=True),
        Column(name="b", type=String(20), primary_key=True),
        Column(name="x", type=Text(), nullable=True),
        Column(name="n", type=BigInt(), nullable=True),
    ),
)


def row(a, b="", x=None, n=None, **helpers):
    """A staged row of `TABLE`."""
    return {"a": a, "b": b, "x": x, "n": n, **{f"_flow_{k}": v for k, v in helpers.items()}}


def event(a, at, x=None, *, deleted=False, n=None):
    """A staged event of a key, so many days after `NOW`."""
    at = NOW + at * DAY
    seq = at.strftime("%Y-%m-%d %H:%M:%S.%f")
    return row(a, x=x, n=n, at=at, seq=seq, deleted=deleted)


def moment(value):
    """A time as any driver gives it."""
    if value is None or isinstance(value, datetime):
        return value if value is None or value.tzinfo else value.replace(tzinfo=UTC)
    return datetime.fromisoformat(value)


@dataclass
class Bench:
    """One target table; each `load` is one run."""

    target: Target
    folder: Path
    table: Table
    write: WriteOptions
    now: datetime = NOW
    layout: Layout = field(init=False)
    _runs: count = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        spec = TargetSpec(table=self.table, connection="out", write=self.write, location=HERE)
        self.layout = layout_of(spec, self.table, None)
        dialect = self.target.dialect
        companion = companion_of(self.layout, self.table.name)
        with self.target.open() as session:
            for each in (self.layout.table, *((companion,) if companion else ())):
                session.execute(create_table(each, each.name, dialect))
            for statement in bookkeeping(dialect).create:
                session.execute(statement)

    def load(self, rows: list[dict], **attempt) -> LedgerEntry:
        """Stage and commit *rows* as a run of its own."""
        number = next(self._runs)
        run_id = attempt.pop("run_id", f"r{number}")
        staged = self.staged(rows, number)
        token = attempt.pop("token", None) or self.take_token()
        told = Attempt(
            pipeline="p",
            run_id=run_id,
            token=token,
            now=attempt.pop("now", self.now),
            read=len(rows),
            quarantine=self.folder / "quarantine" / f"{run_id}.parquet",
            **attempt,
        )
        with self.target.open() as session:
            return commit(self.step(told.dry), session, self.target.dialect, staged, told)

    def take_token(self) -> int:
        """Take the fence, as a run does before it starts."""
        with self.target.open() as session:
            return take_fence(session, bookkeeping(self.target.dialect), "p")

    def step(self, dry: bool = False) -> Commit:
        program = write_program(
            self.layout, self.table.name, self.target.dialect, pipeline="p", dry=dry
        )
        return Commit(connection="out", target=self.table.name, layout=self.layout, program=program)

    def staged(self, rows: list[dict], number: int = 0) -> StagedFiles:
        columns = self.layout.staging.columns
        schema = pa.schema([(each.name, arrow_type(each.type)) for each in columns])
        file = self.folder / f"part-{number}.parquet"
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), file)
        return StagedFiles(files=(file,), rows=len(rows))

    def rows(self, *names: str, where: str = "") -> list[tuple]:
        """What the target holds, in order of these columns."""
        return self._held(self.table.name, names, where)

    def remembered(self) -> list[tuple]:
        """What is kept beside the target; nothing where it remembers enough by itself."""
        companion = companion_of(self.layout, self.table.name)
        return [] if companion is None else self._held(companion.name, companion.column_names)

    def ledger(self) -> list[tuple]:
        """What the target itself says about each run, but for when it came."""
        names = [name for name in LEDGER.column_names if name not in ("target", "committed_at")]
        return self._held(LEDGER.name, names, f"WHERE target = '{self.table.name}'")

    def _held(self, table: TableName, names: Iterable[str], where: str = "") -> list[tuple]:
        grammar = Grammar(self.target.dialect)
        source = f"FROM {grammar.table(table)} {where}"
        with self.target.open() as session:
            found = session.fetch(f"SELECT {grammar.names(names)} {source}")
        return sorted(found, key=repr)
