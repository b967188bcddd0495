"""Every pair of the corpus, run where it was written and where it is translated to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from ematix_flow.errors import DialectError
from ematix_flow.sqltext.dialect import parse_query
from ematix_flow.sqltext.translate import translate
from tests.services.service import Running
from tests.spark.dialects.comparison import same_rows
from tests.spark.dialects.engines import Run, on_datafusion, on_duckdb, on_postgres, on_spark
from tests.spark.dialects.pairs import Pair, pairs

PAIRS = tuple(pairs())

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def engines(spark: Any, postgres: Running) -> Iterator[Mapping[str, Run]]:
    """All four."""
    with ExitStack() as opened:
        yield {
            "spark": opened.enter_context(on_spark(spark)),
            "duckdb": opened.enter_context(on_duckdb()),
            "postgres": opened.enter_context(on_postgres(postgres.facts["dsn"])),
            "datafusion": opened.enter_context(on_datafusion()),
        }


def _translated(pair: Pair) -> str:
    query = parse_query(pair.query, dialect=pair.read, where="corpus:1")
    return translate(query, read=pair.read, write=pair.write, where="corpus:1")


def _shows_fragment(what: str, pair: Pair) -> bool:
    """Tell whether the message shows a part of the query, as it is written or as it was read."""
    shown = what.removeprefix("`").partition("` cannot be translated to ")[0].removesuffix(" ...")
    query = parse_query(pair.query, dialect=pair.read, where="corpus:1")
    texts = (pair.query, query.sql(dialect=pair.read, comments=False))
    if any(_squashed(shown) in _squashed(text) for text in texts):
        return True
    # sqlglot may say it with other words, but not with other values and names.
    said = re.findall(r"'([^']+)'|\"([^\"]+)\"|(\d+)", shown)
    return bool(said) and all("".join(each).lower() in pair.query.lower() for each in said)


def _squashed(text: str) -> str:
    return "".join(text.split()).lower()


@pytest.mark.proves("dialects")
@pytest.mark.parametrize("pair", [p for p in PAIRS if p.expected == "refused"], ids=str)
def test_refused(pair: Pair) -> None:
    with pytest.raises(DialectError) as caught:
        _translated(pair)
    assert pair.reason in caught.value.what
    assert _shows_fragment(caught.value.what, pair), caught.value.what
    assert caught.value.hint


@pytest.mark.proves("dialects")
@pytest.mark.parametrize("pair", [p for p in PAIRS if p.expected == "agrees"], ids=str)
def test_agrees(pair: Pair, engines: Mapping[str, Run]) -> None:
    text = _translated(pair)
    written, translated = engines[pair.read](pair.query), engines[pair.write](text)
    query = parse_query(pair.query, dialect=pair.read, where="corpus:1")
    ordered = query.args.get("order") is not None
    assert same_rows(written, translated, ordered=ordered), f"{text}\n{written}\n{translated}"


@pytest.mark.proves("dialects")
@pytest.mark.parametrize("pair", [p for p in PAIRS if p.expected == "fails"], ids=str)
def test_fails_on_both_sides(pair: Pair, engines: Mapping[str, Run]) -> None:
    text = _translated(pair)
    # Any error will do: the engines share no class of errors.
    with pytest.raises(Exception):  # noqa: B017, PT011
        engines[pair.read](pair.query)
    with pytest.raises(Exception):  # noqa: B017, PT011
        engines[pair.write](text)


@pytest.mark.proves("dialects")
@pytest.mark.parametrize("pair", [p for p in PAIRS if p.expected == "stops"], ids=str)
def test_stops_rather_than_answer_differently(pair: Pair, engines: Mapping[str, Run]) -> None:
    text = _translated(pair)
    assert engines[pair.read](pair.query)
    with pytest.raises(Exception):  # noqa: B017, PT011
        engines[pair.write](text)


def test_the_corpus_is_as_large_as_promised() -> None:
    found = Counter((pair.read, pair.write) for pair in PAIRS)
    assert len(PAIRS) >= 150
    assert set(found) >= {
        ("duckdb", "spark"),
        ("postgres", "spark"),
        ("datafusion", "spark"),
        ("spark", "duckdb"),
        ("spark", "postgres"),
    }
    assert sum(pair.expected == "agrees" for pair in PAIRS) > 150
