"""A project with functions for SQL, and a scene that uses them on one engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

# A project's own modules are not importable in a worker, and on a remote server neither are we.
PROJECT = {
    "rules.py": "SUFFIX = '!'\n\ndef ended(text):\n    return text and text + SUFFIX\n",
    "pipelines.py": """
import pandas as pd
import pyarrow as pa
import rules
from pyspark.sql.functions import pandas_udf
from pyspark.sql.types import StringType
from ematix_flow import BigInt, Text
from ematix_flow.declare.udfs import udaf, udf
from rules import ended

@udf(args=[Text], returns=Text)
def exclaim(names):
    return pa.array([ended(name.as_py()) for name in names], pa.string())

@udf(args=[Text], returns=Text)
def exclaim_twice(names):
    return pa.array([rules.ended(name.as_py()) for name in exclaim(names)], pa.string())

@udaf(args=[BigInt], state=[BigInt], returns=BigInt)
class Counted:
    def __init__(self):
        self.count = 0
    def update_batch(self, values):
        self.count += len(values)
    def state(self):
        return [self.count]
    def merge_batch(self, states):
        self.count += sum(states[0].to_pylist())
    def evaluate(self):
        return self.count

@udf
@pandas_udf(StringType())
def from_pandas(names: pd.Series) -> pd.Series:
    return names.map(ended)

@udf(args=[Text], returns=BigInt)
def breaks(names):
    return pa.array([int(name.as_py()) for name in names])
""",
}
LOAD = """
from ematix_flow.declare.config import ProjectConfig
from ematix_flow.declare.discover import load_project
from ematix_flow.transform.udf import register_udfs
from ematix_flow.transform.udf_failure import read_failure
project = load_project(ProjectConfig(directory=Path.cwd()))
"""
USE = f"""
{LOAD}
with engine(ENGINE, **OPTIONS) as opened:
    session = opened.session
    seen["report"] = opened.report.to_json()
    register_udfs(session, project.udfs.values())
    ask = lambda sql: [list(row) for row in session.sql(sql).collect()]
    seen["rows"] = ask("SELECT exclaim_twice(a) FROM VALUES ('x'), (NULL) AS t(a)")
    seen["groups"] = ask("SELECT id % 2, counted(id) FROM range(5) GROUP BY 1 ORDER BY 1")
    seen["pandas"] = ask("SELECT from_pandas('x')")
    seen["none"] = ask("SELECT exclaim(a) FROM VALUES ('x') AS t(a) WHERE a = 'y'")
    try:
        ask("SELECT breaks('one')")
    except Exception as error:
        seen["error"] = read_failure(str(error)).to_json()
"""


def project_folder(folder: Path) -> Path:
    folder.mkdir()
    for name, text in PROJECT.items():
        (folder / name).write_text(text)
    return folder


def assert_used(seen: dict[str, Any]) -> None:
    assert seen["rows"] == [["x!!"], [None]]
    assert seen["groups"] == [[0, 3], [1, 2]]
    assert seen["pandas"] == [["x!"]]
    assert seen["none"] == []
    line = PROJECT["pipelines.py"].splitlines().index("def breaks(names):") + 2
    assert seen["error"]["what"].startswith("UDF breaks raised ValueError: invalid literal")
    assert seen["error"]["where"] == f"pipelines.py:{line}"
    assert "in breaks" in seen["error"]["details"]
