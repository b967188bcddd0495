"""What a user writes passes the type checkers that users run."""

from hashlib import sha256
from pathlib import Path

import pytest

api = pytest.importorskip("mypy.api", reason="the checker is not part of the lowest set")

TYPES = """
from typing import Annotated

from ematix_flow import (
    JSON, JSONB, UUID, Array, BigInt, Boolean, Bytes, Date, Double, Float, Integer, Numeric,
    SmallInt, String, Struct, Text, Timestamp, TimestampTZ, ematix, natural_key, nullable, pk,
)


@ematix.table(schema="analytics")
class Everything:
    id: Annotated[BigInt, pk()]
    mail: Annotated[Text, natural_key()]
    maybe: Annotated[Integer, nullable()]
    small: SmallInt | None
    single: Float
    real: Double | None
    flag: Boolean
    code: String[2] | None
    marked: Annotated[String[5], natural_key()]
    money: Numeric[10, 2]
    owed: Annotated[Numeric[10, 2] | None, nullable()]
    whole: Numeric[20]
    day: Date
    wall: Timestamp
    instant: TimestampTZ | None
    doc: JSON
    doc_b: JSONB | None
    uid: UUID
    raw: Bytes
    words: Array[Text]
    codes: Array[Array[String[3]]] | None
    address: Struct[("street", Text), ("zip", String[5])]
    one: Struct[("a", Text)] | None
    deep: Array[Struct[("a", Struct[("b", Numeric[4, 1])])]]


AS_VALUES = (Numeric(10, 2), String(3), Array(Text()), Struct(("a", Text())), BigInt())
"""


# Nothing of this repository's own settings may soften it. What no annotation of a user mentions
# is passed over, because reading it is the long part; so is the cache kept between runs.
SETTINGS = """
[mypy]
strict = True
[mypy-ematix_flow.api,sqlglot.*,pydantic.*,pyspark.*]
follow_imports = skip
"""
CACHE = Path(__file__).parents[2] / ".mypy_cache" / "user_typing"


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run mypy --strict on one module of a user, and return what it says of that module."""

    def run(source: str, *, kind: str = "error:") -> list[str]:
        # A name of its own: mypy takes two texts of one length and second for the same.
        module = f"user_{sha256(source.encode()).hexdigest()[:12]}.py"
        (tmp_path / module).write_text(source, encoding="utf-8")
        (tmp_path / "mypy.ini").write_text(SETTINGS, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        out, err, _ = api.run(["--config-file=mypy.ini", f"--cache-dir={CACHE}", module])
        assert not err
        return [line for line in out.splitlines() if line.startswith(module) and kind in line]

    return run


def test_every_type_passes_strict_checking(check):
    assert check(TYPES) == []


PIPELINE = """
@ematix.pipeline(target=Everything, mode="append", source_connection="a", target_connection="b")
def load(src: object) -> str:
    return "SELECT 1"
"""


@pytest.mark.proves("user-typing")
def test_a_decorated_table_and_function_keep_their_types(check):
    uses = "\nreveal_type(Everything)\nreveal_type(load)\n"
    assert check(TYPES + PIPELINE) == []
    table, function = check(TYPES + PIPELINE + uses, kind="note: Revealed")
    assert table.endswith('.Everything"')
    assert "[[src: object], str]" in function


ANSWERS = {
    "plan()": "plan.plan.Plan",
    "explain()": "api.explanation.Explanation",
    "preview(5)": "engine.runs.preview.Preview",
    "sync()": "record.run.RunResult",
    "dry_run()": "record.run.RunResult",
    'backfill("2026-01-01", "2026-02-01")': "engine.runs.backfill.BackfillResult",
}


@pytest.mark.proves("user-typing")
def test_what_a_pipeline_answers_is_known_to_the_editor(check):
    uses = "\n".join(f"reveal_type(load.{call})" for call in ANSWERS)
    told = check(f"{TYPES}{PIPELINE}\n{uses}\n", kind="note: Revealed")
    for line, kind in zip(told, ANSWERS.values(), strict=True):
        assert line.endswith(f'"ematix_flow.{kind}"')


@pytest.mark.proves("user-typing")
@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ("mode=", "mod=", 'Unexpected keyword argument "mod"'),
        ('"append"', '"apend"', 'Argument "mode" to'),
        ("day: Date", "day: Dat", 'Name "Dat" is not defined'),
    ],
)
def test_a_mistake_is_found_in_the_editor(check, right, wrong, expected):
    [complaint] = check((TYPES + PIPELINE).replace(right, wrong))
    assert expected in complaint
