"""The rows of a query as a frame of the user's choice.

A database that can spool its rows needs no Spark for a local frame. A Spark frame is lazy and
outlives the call, so it belongs to a session of the caller's.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ematix_flow.engine.spark.borrowed import borrow
from ematix_flow.engine.spark.errors import translating
from ematix_flow.engine.spark.opened import OpenEngine
from ematix_flow.errors import EngineError, UnknownName, UsageError
from ematix_flow.ports import Reader, ReadsWithoutSpark
from ematix_flow.read.frames import SourceFrames

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_KINDS = ("pandas", "polars", "pyarrow", "spark")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameReader:
    """Reads one connection.

    :param dialect: The SQL that the connection runs itself; None where Spark runs it.
    :param session: The caller's own session, where there is one.
    :param open_engine: Opens Spark for the time of one read, where it is needed and not given.
    """

    connection: str
    kind: str
    dialect: str | None
    reader: Reader
    session: SparkSession | None
    open_engine: Callable[[], AbstractContextManager[OpenEngine]]

    def read(self, query: str, wanted: str | None) -> Any:
        """Return the rows of *query* as a frame of the kind *wanted*."""
        found = wanted or ("pandas" if find_spec("pandas") else "pyarrow")
        if found not in _KINDS:
            raise UnknownName.among("kind of frame", found, _KINDS)
        if found == "spark":
            return self._spark_frame(query)
        return _local(self._arrow(query), found)

    def _arrow(self, query: str) -> pa.Table:
        import pyarrow.parquet as pq

        with tempfile.TemporaryDirectory(prefix="ematix-flow-") as folder:
            scratch = Path(folder)
            if isinstance(self.reader, ReadsWithoutSpark):
                return pq.read_table(self.reader.spool(query, scratch))
            own = borrow(self.session) if self.session is not None else self.open_engine()
            with own as engine, translating():
                return self._on(engine.session, lambda: scratch).query(query).toArrow()

    def _spark_frame(self, query: str) -> DataFrame:
        if self.session is None:
            raise UsageError(
                "a Spark frame belongs to a session, and none was given",
                hint="read_df(sql, spark=spark)",
            )
        # Queries over files need views, which must not get among the caller's own.
        in_source = self.dialect is not None
        session = self.session if in_source else borrow(self.session).session
        with translating():
            return self._on(session, _kept_folder).query(query)

    def _on(self, session: SparkSession, scratch: Callable[[], Path]) -> SourceFrames:
        return SourceFrames(
            connection=self.connection,
            kind=self.kind,
            dialect=self.dialect,
            reader=self.reader,
            spark=session,
            # Spooled, not fetched by tasks: the frame may outlive everything that is held here.
            run=lambda query: self.reader.read_query(session, query, scratch()),
        )


def _kept_folder() -> Path:
    """Return a folder that lasts as long as the process: a lazy frame reads it again and again."""
    folder = tempfile.mkdtemp(prefix="ematix-flow-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _local(table: pa.Table, wanted: str) -> Any:
    match wanted:
        case "pandas":
            pandas = _library("pandas")
            # Its own types would make 1.0 of an integer beside a NULL, and round above 2^53.
            return table.to_pandas(types_mapper=pandas.ArrowDtype)
        case "polars":
            return _library("polars").from_arrow(table)
        case _:
            return table


def _library(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise EngineError(
            f"a {name} frame needs the package {name!r}, which is not installed",
            hint=f"pip install {name}, or ask for another: as_='pyarrow'",
        ) from error
