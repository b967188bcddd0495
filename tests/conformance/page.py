"""docs/conformance.md: each promise, its proofs, and what they ran on."""

from __future__ import annotations

from itertools import groupby

from tests.conformance.proofs import Proofs
from tests.conformance.rules import Chapter, chapters, rules

_HEAD = """# What is promised, and what proves it

<!-- Written by the test run: `make test` writes it again from the marks `proves` on the tests. -->

Each rule below has tests that fail when it is broken; they ran, and passed, on what the last
column names. *direct* is the path without an engine, *in the database* the one without a row
leaving it; see [paths](databases.md). A rule without a proof fails `make test`.
"""


def unproven(proofs: Proofs) -> list[str]:
    """Return the rules that no test has shown."""
    return [rule for rule in rules() if not proofs.tests.get(rule)]


def page(proofs: Proofs) -> str:
    """Return the whole page."""
    return _HEAD + "".join(_chapter(chapter, proofs) for chapter in chapters())


def _chapter(chapter: Chapter, proofs: Proofs) -> str:
    lines = ["", f"## {chapter.title}", "", "| rule | proof | on |", "| --- | --- | --- |"]
    for rule, text in chapter.rules.items():
        tests = proofs.tests.get(rule, {})
        places = sorted(set().union(*tests.values()), key=str.casefold)
        lines.append(f"| **{rule}**: {text} | {_links(tests)} | {', '.join(places)} |")
    return "\n".join(lines) + "\n"


def _links(tests: dict[str, set[str]]) -> str:
    if not tests:
        return "none"
    by_file = groupby(sorted(tests), key=lambda test: test.partition("::")[0])
    return "<br>".join(
        f"[{file.removeprefix('tests/')}](../{file}): "
        + ", ".join(test.partition("::")[2].removeprefix("test_") for test in found)
        for file, found in by_file
    )
