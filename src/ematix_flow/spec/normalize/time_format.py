"""The one language of date and time formats: a strict part of Python's `strptime`.

Each directive reads ASCII digits of a fixed width; with a dash (`%-d`) one digit will do.
All other characters stand for themselves.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from ematix_flow._base.suggest import nearest

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)


def spellings(word: str) -> tuple[str, ...]:
    """Return a word as written, in lower case, UPPER CASE and Capitalised."""
    return tuple(dict.fromkeys((word, word.lower(), word.upper(), word.capitalize())))


def _any_of(words: list[str]) -> str:
    # The longest first, for alternatives are tried in order.
    spelt = {spelling for word in words for spelling in spellings(word)}
    return "|".join(sorted(spelt, key=lambda word: (-len(word), word)))


# What each directive reads, and how many characters that is where it is fixed.
DIRECTIVES: dict[str, tuple[str, int | None]] = {
    "Y": ("[0-9]{4}", 4),
    "y": ("[0-9]{2}", 2),
    "m": ("(?:0[1-9]|1[0-2])", 2),
    "-m": ("(?:0?[1-9]|1[0-2])", None),
    "b": (f"(?:{_any_of([month[:3] for month in MONTHS])})", 3),
    "B": (f"(?:{_any_of(list(MONTHS))})", None),
    "d": ("(?:0[1-9]|[12][0-9]|3[01])", 2),
    "-d": ("(?:0?[1-9]|[12][0-9]|3[01])", None),
    "H": ("(?:[01][0-9]|2[0-3])", 2),
    "-H": ("(?:[01]?[0-9]|2[0-3])", None),
    "I": ("(?:0[1-9]|1[0-2])", 2),
    "-I": ("(?:0?[1-9]|1[0-2])", None),
    "p": ("(?:AM|PM|am|pm)", 2),
    "M": ("[0-5][0-9]", 2),
    "S": ("[0-5][0-9]", 2),
    "f": ("[0-9]{1,6}", None),
    "z": ("(?:Z|[+-](?:0[0-9]|1[0-4]):?[0-5][0-9])", None),
}
_DIRECTIVE = re.compile(r"%(-?.)", re.DOTALL)
_TIMES = frozenset({"H", "-H", "I", "-I", "p", "M", "S", "f", "z"})
# Directives of one line read the same thing, so a format has one of them.
_SAME = (
    *({"Y", "y"}, {"m", "-m", "b", "B"}, {"d", "-d"}, {"H", "-H", "I", "-I"}, {"p"}),
    *({"M"}, {"S"}, {"f"}, {"z"}),
)


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """A format, as its pieces: directives (with True) and literal text (with False)."""

    text: str
    pieces: tuple[tuple[str, bool], ...]

    @classmethod
    def read(cls, text: str) -> TimeFormat:
        """Read a format; ValueError says what is wrong with it."""
        pieces: list[tuple[str, bool]] = []
        end = 0
        for found in _DIRECTIVE.finditer(text):
            pieces.append((text[end : found.start()], False))
            end = found.end()
            pieces.append(("%", False) if found[1] == "%" else (_known(found[1]), True))
        rest = text[end:]
        if "%" in rest:
            raise ValueError("it ends in a lone %; write %% for a percent sign")
        pieces.append((rest, False))
        if text != text.strip():
            raise ValueError("it begins or ends with white space, which is not read")
        format_ = cls(text, tuple(piece for piece in pieces if piece[0]))
        format_._require_a_day()
        return format_

    @property
    def directives(self) -> tuple[str, ...]:
        """The directives, in order."""
        return tuple(piece for piece, directive in self.pieces if directive)

    @property
    def times(self) -> frozenset[str]:
        """The directives that read a time of day."""
        return _TIMES & set(self.directives)

    def has(self, *directives: str) -> bool:
        """Tell whether it has one of *directives*."""
        return not set(directives).isdisjoint(self.directives)

    @property
    def pattern(self) -> str:
        """A regular expression for it, one group for each directive."""
        parts = (
            f"({DIRECTIVES[piece][0]})" if directive else _escaped(piece)
            for piece, directive in self.pieces
        )
        return f"^{''.join(parts)}$"

    def _require_a_day(self) -> None:
        found = self.directives
        for same in _SAME:
            several = [each for each in found if each in same]
            if len(several) > 1:
                named = " and ".join(f"%{each}" for each in several)
                raise ValueError(f"{named} read the same thing")
        for name, wanted in zip(("year", "month", "day"), _SAME, strict=False):
            if wanted.isdisjoint(found):
                raise ValueError(f"it reads no {name} ({_listed(wanted)})")
        if self.has("I", "-I") != self.has("p"):
            raise ValueError("%I and %p need each other")
        for smaller, larger in (("f", "S"), ("S", "M")):
            if smaller in found and larger not in found:
                raise ValueError(f"%{smaller} needs %{larger}")
        if self.has("M", "z") and not self.has("H", "-H", "I", "-I"):
            raise ValueError("it reads no hour (%H, %-H, or %I with %p)")


def _known(directive: str) -> str:
    if directive in DIRECTIVES:
        return directive
    guess = nearest(directive, DIRECTIVES)
    raise ValueError(
        f"%{directive} is not known"
        + (f"; did you mean %{guess}?" if guess else "")
        + f" (known: {_listed(DIRECTIVES)}, %%)"
    )


def _listed(directives: Collection[str]) -> str:
    return ", ".join(f"%{each}" for each in DIRECTIVES if each in directives)


def _escaped(text: str) -> str:
    """Escape what is special to any of the engines' regular expressions."""
    return re.sub(r"[!-/:-@\[-^`{-~]", r"\\\g<0>", text)
