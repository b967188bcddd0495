"""Markers for text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from ematix_flow.spec.normalize.family import TEXT, Family
from ematix_flow.spec.normalize.marker import Marker, is_whole, refuse
from ematix_flow.spec.normalize.pattern import check_pattern, replacement_parts

# What `str.strip()` removes: every character that Unicode calls white space, and the four
# separators of ASCII.
WHITESPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


@dataclass(frozen=True, slots=True)
class TextMarker(Marker):
    """A marker from text to text."""

    @property
    def takes(self) -> frozenset[Family]:
        """Text alone."""
        return TEXT


@dataclass(frozen=True, slots=True)
class Trim(TextMarker):
    """What `trim()` makes."""

    called: ClassVar[str] = "trim"


@dataclass(frozen=True, slots=True)
class Lower(TextMarker):
    """What `lower()` makes."""

    called: ClassVar[str] = "lower"


@dataclass(frozen=True, slots=True)
class Upper(TextMarker):
    """What `upper()` makes."""

    called: ClassVar[str] = "upper"


@dataclass(frozen=True, slots=True)
class EmptyToNull(TextMarker):
    """What `empty_to_null()` makes."""

    called: ClassVar[str] = "empty_to_null"


@dataclass(frozen=True, slots=True)
class WhitespaceToNull(TextMarker):
    """What `whitespace_to_null()` makes."""

    called: ClassVar[str] = "whitespace_to_null"


@dataclass(frozen=True, slots=True)
class Replace(TextMarker):
    """What `replace()` makes."""

    called: ClassVar[str] = "replace"
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class RegexReplace(TextMarker):
    """What `regex_replace()` makes."""

    called: ClassVar[str] = "regex_replace"
    pattern: str
    replacement: str


@dataclass(frozen=True, slots=True)
class Truncate(TextMarker):
    """What `truncate()` makes."""

    called: ClassVar[str] = "truncate"
    length: int


@dataclass(frozen=True, slots=True)
class EmailNormalize(TextMarker):
    """What `email_normalize()` makes."""

    called: ClassVar[str] = "email_normalize"
    gmail: bool = False


def trim() -> Marker:
    """Remove white space at both ends: every character that `str.strip()` removes."""
    return Trim()


def lower() -> Marker:
    """Make text lower case, by Unicode's full mapping and no country's rules."""
    return Lower()


def upper() -> Marker:
    """Make text upper case, by Unicode's full mapping and no country's rules."""
    return Upper()


def empty_to_null() -> Marker:
    """Make empty text NULL."""
    return EmptyToNull()


def whitespace_to_null() -> Marker:
    """Make text of nothing but white space NULL; other text stays as it is."""
    return WhitespaceToNull()


def replace(old: str, new: str) -> Marker:
    """Replace each occurrence of *old*, taken literally, by *new*."""
    _require_text("replace", old=old, new=new)
    if not old:
        refuse("replace('', ...) replaces nothing", hint="name the text to be replaced")
    return Replace(old, new)


def regex_replace(pattern: str, replacement: str) -> Marker:
    r"""Replace each match of *pattern*; `$1` to `$9` are its groups, `\$` is a dollar."""
    _require_text("regex_replace", pattern=pattern, replacement=replacement)
    try:
        groups = check_pattern(pattern)
        replacement_parts(replacement, groups)
    except (ValueError, re.error) as error:
        refuse(
            f"regex_replace({pattern!r}, {replacement!r}): {error}",
            hint="the language of patterns is on the page about normalization",
        )
    return RegexReplace(pattern, replacement)


def truncate(length: int) -> Marker:
    """Keep the first *length* characters (code points)."""
    if not is_whole(length) or not 1 <= length < 2**31:
        refuse(f"truncate takes a positive number of characters, not {length!r}")
    return Truncate(length)


def email_normalize(*, gmail: bool = False) -> Marker:
    """Trim an address and make it lower case.

    :param gmail: Also drop dots and +tags of Gmail addresses, which lead to the same mailbox.
    """
    if not isinstance(gmail, bool):
        refuse(f"email_normalize: gmail={gmail!r} is neither True nor False")
    return EmailNormalize(gmail)


def _require_text(marker: str, **arguments: object) -> None:
    for name, value in arguments.items():
        if not isinstance(value, str):
            refuse(f"{marker}: {name} takes text, not {value!r}")
