"""Every snippet of the README and the guide runs, every generated page is up to date."""

import re
from pathlib import Path

import pytest

from tests.documents import blocks, follow

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RUNNABLE = [
    page for page in PAGES if any(b.language in ("python", "console") for b in blocks(page))
]


@pytest.mark.proves("docs-run")
@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: page.name)
def test_a_reader_can_follow_the_page(page, tmp_path):
    assert follow(page, tmp_path) > 0


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*/*.md"))], ids=str
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
