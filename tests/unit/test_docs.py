"""What the pages show and nobody runs: samples are read by what would read them, links lead on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ematix_flow.connections.load import Connections
from ematix_flow.declare.config import load_config
from ematix_flow.declare.keywords import checked_pipeline
from ematix_flow.errors import DialectError
from ematix_flow.sqltext.dialect import parse_query
from ematix_flow.sqltext.translate import translate
from tests.documents import blocks

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *(ROOT / name for name in ("examples/README.md", "probe/README.md")),
    *sorted(DOCS.rglob("*.md")),
]


def samples(*languages):
    """Every block in one of *languages*, under the place where it stands."""
    return [
        pytest.param(block.body, id=f"{page.relative_to(ROOT)}:{block.line}")
        for page in PAGES
        for block in blocks(page)
        if block.language in languages
    ]


def known(folder, environ=None):
    config = load_config(folder)
    return Connections(
        declared={},
        configured=config.connections,
        configured_in=config.origin,
        environ=environ or {},
        base=folder,
        home=folder,
    )


@pytest.mark.parametrize("sample", samples("toml"))
def test_a_project_takes_the_toml(sample, tmp_path):
    (tmp_path / "ematix-flow.toml").write_text(sample, encoding="utf-8")
    connections = known(tmp_path)
    for name in connections.names():
        assert connections[name].name == name
    for keywords in load_config(tmp_path).pipelines.values():
        assert checked_pipeline(keywords, "the page").keys() == keywords.keys()


@pytest.mark.parametrize("sample", samples("dotenv"))
def test_the_variables_declare_connections(sample, tmp_path):
    environ = dict(line.split("=", 1) for line in sample.splitlines() if line)
    connections = known(tmp_path, environ)
    assert len(connections.names()) > 0
    for name in connections.names():
        assert connections[name].name == name


@pytest.mark.parametrize("sample", samples("json"))
def test_json_is_json(sample):
    assert json.loads(sample)["version"] == 1


def test_the_refusal_of_a_query_is_told_like_this():
    sql = "SELECT Regexp_Replace( name ,'a','b' ) FROM t"
    query = parse_query(sql, dialect="duckdb", where="pipelines.py:7")
    with pytest.raises(DialectError) as told:
        translate(query, read="duckdb", write="spark", where="pipelines.py:7")
    assert f"```text\n{told.value}\n```" in (DOCS / "dialects.md").read_text(encoding="utf-8")


def without_samples(page):
    return re.sub(
        r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )


def anchors(page):
    """The anchors that a page has for its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", without_samples(page), flags=re.MULTILINE)
    shown = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each) for each in headings)
    return {re.sub(r"[^\w\- ]", "", each.strip().lower()).replace(" ", "-") for each in shown}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_samples(page)):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        place = page.parent / file if file else page
        assert place.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(place), f"{page.name} links to {target}"
