"""A plot of the medians as SVG: plain horizontal bars, readable on light and on dark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from benchmarks.loads.contestants import CONTESTANTS, Contestant, Load
from benchmarks.loads.report import LOADS, TARGETS

if TYPE_CHECKING:
    from benchmarks.loads.results import Results

WIDTH = 760
LABELS = 230
FIGURES = 70
BAR = 16
STEP = 22
TITLE = 34

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 }
.ours { fill: #2f7ed8 }
.peer { fill: #8d96a0 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }
"""


def draw(results: Results) -> str:
    """Return the SVG: a group of bars per load, one scale for all."""
    groups = [(load, list(_bars(results, load))) for load in LOADS]
    groups = [(load, bars) for load, bars in groups if bars]
    longest = max((seconds for _, bars in groups for _, seconds in bars), default=1.0)
    body: list[str] = []
    top = 0
    for load, bars in groups:
        body.append(_text(0, top + 20, f"{TARGETS[load.target]}, {load.mode}: seconds", "title"))
        top += TITLE
        for contestant, seconds in bars:
            body += _bar(contestant, seconds, seconds / longest, top)
            top += STEP
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img">',
            "<title>Seconds per load, by contestant; shorter is better</title>",
            f"<style>{STYLE}</style>",
            *body,
            "</svg>",
            "",
        ]
    )


def _bars(results: Results, load: Load) -> Iterator[tuple[Contestant, float]]:
    for contestant in CONTESTANTS:
        score = results.score(contestant.name, load)
        if score is not None:
            yield contestant, score.seconds


def _bar(contestant: Contestant, seconds: float, share: float, top: int) -> Iterator[str]:
    width = max(1.0, share * (WIDTH - LABELS - FIGURES))
    kind = "ours" if contestant.ours else "peer"
    yield _text(0, top + 13, contestant.label)
    yield f'<rect class="{kind}" x="{LABELS}" y="{top}" width="{width:.1f}" height="{BAR}"/>'
    yield _text(LABELS + width + 6, top + 13, f"{seconds:.1f}")


def _text(x: float, y: int, text: str, kind: str = "") -> str:
    chosen = f' class="{kind}"' if kind else ""
    return f'<text{chosen} x="{x:.0f}" y="{y}">{escape(text)}</text>'
