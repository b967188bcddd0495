"""Did-you-mean."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, options: Iterable[str]) -> str | None:
    """Return the option closest to *name*, ignoring case, or None when none is close.

    >>> nearest("lod_orders", ["load_orders", "revenue"])
    'load_orders'
    """
    by_folded = {option.casefold(): str(option) for option in options}
    found = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(name: object, options: Iterable[str]) -> str:
    """Return the guess as the end of a clause, or nothing.

    >>> did_you_mean("mod", ["mode", "name"])
    "; did you mean 'mode'?"
    """
    guess = nearest(str(name), options)
    return f"; did you mean {guess!r}?" if guess else ""
