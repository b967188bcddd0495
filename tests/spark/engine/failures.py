"""Queries that fail, each with the error a user must see; the same on every engine."""

from __future__ import annotations

CODE = """
DATA = STATE.parent / "data"
DATA.mkdir(exist_ok=True)
(DATA / "junk.parquet").write_text("junkjunkjunk")
(DATA / "bad.csv").write_text("id,n\\n1,a\\nx,b\\n")

def failures(session):
    def boom(batches):
        for batch in batches:
            raise ValueError("my boom")
        yield batch
    read = session.read
    csv = read.schema("id int, n string").option("header", True).option("mode", "FAILFAST")
    cases = {
        "column": lambda: session.sql("SELECT ammount FROM (SELECT 1 amount)").collect(),
        "syntax": lambda: session.sql("SELEC 1").collect(),
        "table": lambda: session.sql("SELECT * FROM nope").collect(),
        "missing": lambda: read.parquet(str(DATA / "none.parquet")).collect(),
        "junk": lambda: read.parquet(str(DATA / "junk.parquet")).collect(),
        "csv": lambda: csv.csv(str(DATA / "bad.csv")).collect(),
        "cast": lambda: session.sql("SELECT cast(concat('x', id) AS int) FROM range(2)").collect(),
        "python": lambda: session.range(2).mapInArrow(boom, "id long").collect(),
        "task": lambda: session.range(2).write.parquet("/proc/nowhere"),
    }
    found = {}
    for name, case in cases.items():
        try:
            case()
            found[name] = ["no error", ""]
        except Exception as error:
            ours = translate(error)
            found[name] = [type(ours).__name__, str(ours)]
    return found
"""

EXPECTED = {
    "column": ("QueryError", "`amount`"),
    "syntax": ("QueryError", "PARSE_SYNTAX_ERROR"),
    "table": ("QueryError", "TABLE_OR_VIEW_NOT_FOUND"),
    "missing": ("SourceError", "none.parquet"),
    "junk": ("SourceError", "is not a Parquet file"),
    "csv": ("SourceError", "Malformed records"),
    "cast": ("QueryError", "CAST_INVALID_INPUT"),
    "python": ("UserCodeError", "ValueError: my boom"),
    "task": ("EngineError", "Mkdirs failed"),
}


def assert_told(found: dict[str, list[str]]) -> None:
    """Check that every failure was told as expected, without a JVM frame in it."""
    assert {name: kind for name, (kind, _) in found.items()} == {
        name: kind for name, (kind, _) in EXPECTED.items()
    }
    for name, (_, text) in found.items():
        assert EXPECTED[name][1] in text
        assert "\tat " not in text
        assert "org.apache.spark" not in text
