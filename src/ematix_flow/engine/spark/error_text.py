"""Read the text of a Spark exception: condition, message, SQL excerpt, causes.

Classic Spark raises Py4J or captured exceptions, Connect raises its own; all of
them carry the same text: `[CONDITION] message SQLSTATE: ...`, then JVM frames
and `Caused by:` lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CONDITION = re.compile(r"^\s*\[([A-Z][A-Z0-9_.]+)\]\s*")
_STATE = re.compile(r"\s*SQLSTATE: (\w{5})")
_FRAMES = re.compile(r"\n\s+at |\n+JVM stacktrace:|\n+Driver stacktrace:")
_CAUSE = re.compile(r"Caused by: ([\w.$]+)(?:: (.*))?")
_LOST_TASK = re.compile(r"most recent failure: .*?\(.*?executor.*?\): ([\w.$]+)(?:: (.*))?")
_PY4J_CALL = re.compile(r"^An error occurred while calling [^\n]*\n: ")
_CLASS = re.compile(r"^([a-z][\w$]*(?:\.[\w$]+)+): ?")
_EXCERPT = re.compile(r"== SQL[^\n]*==\n.*?(?=\n\n|\Z)", re.DOTALL)
_PLAN_TREE = re.compile(r";\n.*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkText:
    """What the text of a Spark exception says."""

    condition: str
    state: str
    headline: str
    excerpt: str | None
    causes: tuple[str, ...]

    @property
    def conditions(self) -> tuple[str, ...]:
        """Return its condition and those of its causes."""
        inner = (found[1] for cause in self.causes if (found := _CONDITION.match(cause)))
        return (self.condition, *inner)

    def says(self, words: tuple[str, ...]) -> bool:
        """Tell whether the message or a cause has one of these words."""
        return any(word in text for word in words for text in (self.headline, *self.causes))


def full_text(error: BaseException) -> str:
    """Return message and JVM stack; a classic exception keeps the stack apart."""
    stack = getattr(error, "_stackTrace", None) or getattr(error, "_stacktrace", None) or ""
    text = str(error)
    return text if "JVM stacktrace:" in text or not stack else f"{text}\n\nJVM stacktrace:\n{stack}"


def read_text(text: str) -> SparkText:
    """Take the text of an exception apart."""
    text = _PY4J_CALL.sub("", text).strip()
    head, *_ = _FRAMES.split(text, maxsplit=1)
    head = _CLASS.sub("", head)
    condition, state = _CONDITION.match(head), _STATE.search(head)
    excerpt = _EXCERPT.search(head)
    headline = head[: excerpt.start()] if excerpt else head
    headline = _PLAN_TREE.sub("", _CONDITION.sub("", headline))
    causes = [
        found[2] or found[1] for found in (*_LOST_TASK.finditer(text), *_CAUSE.finditer(text))
    ]
    return SparkText(
        condition=condition[1] if condition else "",
        state=state[1] if state else "",
        headline=first_line(_STATE.sub("", headline)).replace(".; line", "; line"),
        excerpt=excerpt[0] if excerpt else None,
        causes=tuple(cause.strip() for cause in causes),
    )


def plain(cause: str) -> str:
    """Return a cause without class name, condition and SQLSTATE."""
    return first_line(_STATE.sub("", _CONDITION.sub("", _CLASS.sub("", cause)))).rstrip(".")


def first_line(text: str) -> str:
    """Return the first line that is not blank."""
    return next((line.strip() for line in text.strip().splitlines() if line.strip()), "")
