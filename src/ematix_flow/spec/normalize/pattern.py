r"""The language of patterns: what Java and Python both read, and read alike.

Java runs them on Spark; Python checks them when they are declared. Where the two differ
(`\Z`, `(?P<name>`, conditions, sets of sets) a pattern is refused, so that a declared
pattern means the same to whoever reads it. `\d \w \s` are ASCII, as in Java. To `.` and `$` a
line also ends at a carriage return and at U+0085, U+2028, U+2029, as in Java.
"""

from __future__ import annotations

import re

_PROPERTIES = ("L", "Ll", "Lu", "M", "N", "Nd", "P", "S", "Z", "Alpha", "Alnum", "Digit", "Punct")
_REPETITION = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_PROPERTY = re.compile(r"\\[pP]\{([^}]*)\}|\\[pP]")


def check_pattern(pattern: str) -> int:
    """Return how many groups *pattern* has; ValueError or re.error if it is not a good one."""
    for found in _PROPERTY.finditer(pattern):
        if found[1] not in _PROPERTIES:
            raise ValueError(f"{found[0]} is not known (known: {', '.join(_PROPERTIES)})")
    plain = _PROPERTY.sub("x", pattern)
    _refuse_differences(plain)
    return re.compile(plain, re.ASCII).groups


def replacement_parts(replacement: str, groups: int) -> tuple[str | int, ...]:
    r"""Return literal text and group numbers of `$1, $2`; ValueError for a group that is not."""
    parts: list[str | int] = []
    position = 0
    while position < len(replacement):
        character, following = replacement[position], replacement[position + 1 : position + 2]
        if character == "\\":
            if following not in ("\\", "$"):
                raise ValueError(r"in a replacement a backslash stands before $ or \ only")
            parts.append(following)
        elif character == "$":
            if not following.isdigit() or not following.isascii():
                raise ValueError(r"in a replacement $ stands before a digit; write \$ for a dollar")
            if int(following) > groups:
                raise ValueError(f"the pattern has {groups} groups, so there is no ${following}")
            parts.append(int(following))
        else:
            parts.append(character)
            position -= 1
        position += 2
    return tuple(parts)


def _refuse_differences(pattern: str) -> None:
    position, in_set = 0, False
    while position < len(pattern):
        rest = pattern[position:]
        if rest[0] == "\\":
            _refuse_escape(rest[:2])
            position += 2
            continue
        if in_set:
            _refuse_in_set(rest)
        else:
            _refuse_outside_of_sets(rest)
        if rest[0] == "[" and not in_set:
            in_set = True
            # A ] that comes first belongs to the set.
            position += len(re.match(r"\[\^?\]?", rest)[0])  # type: ignore[index]  # always matches
            continue
        if rest[0] == "]":
            in_set = False
        position += 1


def _refuse_escape(escape: str) -> None:
    if escape in (r"\b", r"\B"):
        # Before version 19 a letter with an accent is part of a word to Java.
        raise ValueError(f"{escape} depends on Java's version; write (?<![A-Za-z0-9_])")
    if escape in (r"\Z", r"\0", r"\N", r"\U", r"\v"):
        raise ValueError(f"{escape} means different things to Java and Python")


def _refuse_in_set(rest: str) -> None:
    if rest.startswith(("[", "&&", "--")):
        raise ValueError(f"in a set {rest[:1]!r} must be written with a backslash")


def _refuse_outside_of_sets(rest: str) -> None:
    if rest[0] == "{" and not _REPETITION.match(rest):
        raise ValueError("{ that repeats nothing must be written with a backslash")
    if rest.startswith(("(?P", "(?(", "(?#")):
        raise ValueError(f"{rest[:3]} is not known to Java")
    if re.match(r"\(\?[aiLmsux-]", rest):
        raise ValueError("flags like (?i) are not taken; spell the letters: [Aa]")
