"""What README and guide tell a reader to write and run does what they say; their links lead on.

That generated pages are up to date is shown by tests/unit/test_generated_docs.py.
"""

import re
from pathlib import Path

import pytest

from tests.documents import blocks, follow

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
# Listed, so that a page which loses its fences is missed.
RUN = (
    *("README", "connections", "engines", "frames", "lineage", "modes", "normalization"),
    *("pipelines", "plans", "runs", "tables", "udfs"),
)


@pytest.mark.proves("docs-run")
@pytest.mark.parametrize("name", RUN)
def test_a_reader_can_follow_the_page(name, tmp_path):
    page = ROOT / "README.md" if name == "README" else DOCS / f"{name}.md"
    assert follow(page, tmp_path) > 0


@pytest.mark.proves("docs-run")
def test_every_page_with_something_to_run_is_run():
    found = {
        page.stem
        for page in PAGES
        if any(block.language in ("python", "console") for block in blocks(page))
    }
    assert found == set(RUN)


@pytest.mark.parametrize(
    "page",
    [*PAGES, ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*/*.md"))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
