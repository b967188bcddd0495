"""Changing a few values of a TOML file and not a byte more.

The text is edited line by line, then read back: what the parser sees must be the old
content with the change and nothing else, else nothing is written.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from ematix_flow.errors import ConfigError

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HEADER = re.compile(
    r"[ \t]*\[(?!\[)(?P<path>[^\]\"']*(?:\"[^\"]*\"|'[^']*')*[^\]]*)\][ \t]*(?:#.*)?"
)
_ANY_HEADER = re.compile(r"[ \t]*\[")


def with_values(text: str, table: Sequence[str], values: Mapping[str, Any]) -> str:
    """Return *text* with *values* set in the table of that path, which is added if need be."""
    wanted = _merged(tomllib.loads(text), table, values)
    break_ = "\r\n" if "\r\n" in text else "\n"
    # Not splitlines: to TOML a line separator of Unicode is a character of its comment.
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    start = _find(lines, table)
    if start is None:
        edited = _appended(text, table, values, break_)
    else:
        edited = "".join(_changed(lines, start, values, break_))
    try:
        same = tomllib.loads(edited) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise ConfigError(
            f"the table {'.'.join(table)} is written in a way that cannot be changed safely; "
            "nothing was changed",
            hint="change it in an editor",
        )
    return edited


def toml_value(value: Any) -> str:
    """Return *value* as TOML writes it."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case Mapping():
            inner = ", ".join(
                f"{toml_key(key)} = {toml_value(each)}" for key, each in value.items()
            )
            return f"{{ {inner} }}" if inner else "{}"
        case _:
            return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(key: str) -> str:
    """Return *key* as TOML writes it."""
    return key if _BARE.fullmatch(key) else toml_value(key)


def _merged(content: dict[str, Any], table: Sequence[str], values: Mapping[str, Any]) -> Any:
    whole = copy.deepcopy(content)
    inner = whole
    for key in table:
        inner = inner.setdefault(key, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"{key} is not a table, but {type(inner).__name__}")
    inner.update(copy.deepcopy(dict(values)))
    return whole


def _find(lines: Sequence[str], table: Sequence[str]) -> int | None:
    for number, line in enumerate(lines):
        found = _HEADER.fullmatch(line.rstrip("\r\n"))
        if found and _path(found["path"]) == list(table):
            return number
    return None


def _path(text: str) -> list[str] | None:
    """Read a dotted key, quoted parts included."""
    try:
        inner: Any = tomllib.loads(f"{text} = 0")
    except tomllib.TOMLDecodeError:
        return None
    found: list[str] = []
    while isinstance(inner, dict):
        if not inner:  # a comment
            return None
        [(key, inner)] = inner.items()
        found.append(key)
    return found


def _appended(text: str, table: Sequence[str], values: Mapping[str, Any], break_: str) -> str:
    head = text if not text or text.endswith(("\n", "\r\n")) else text + break_
    if head.strip():
        head += break_
    lines = [f"[{'.'.join(toml_key(each) for each in table)}]"]
    lines += [f"{toml_key(key)} = {toml_value(value)}" for key, value in values.items()]
    return head + "".join(f"{line}{break_}" for line in lines)


def _changed(lines: list[str], start: int, values: Mapping[str, Any], break_: str) -> list[str]:
    end = next(
        (at for at in range(start + 1, len(lines)) if _ANY_HEADER.match(lines[at])), len(lines)
    )
    last, done = start, set()
    changed = list(lines)
    for at in range(start + 1, end):
        if lines[at].strip() and not lines[at].lstrip().startswith("#"):
            last = at
        key, equals, rest = lines[at].partition("=")
        path = _path(key.strip()) if equals and key.strip() else None
        if path and len(path) == 1 and path[0] in values:
            done.add(path[0])
            changed[at] = f"{key}={_replaced(rest, values[path[0]])}"
    if not changed[last].endswith(("\n", "\r\n")):
        changed[last] += break_
    added = [
        f"{toml_key(key)} = {toml_value(value)}{break_}"
        for key, value in values.items()
        if key not in done
    ]
    return changed[: last + 1] + added + changed[last + 1 :]


def _replaced(rest: str, value: Any) -> str:
    """Return what follows `=` with another value; blanks and the comment stay."""
    body = rest.rstrip("\r\n")
    for at in [*(match.start() for match in re.finditer("#", body)), len(body)]:
        old = body[:at]
        try:
            tomllib.loads(f"x ={old}")
        except tomllib.TOMLDecodeError:
            continue
        blank = old[: len(old) - len(old.lstrip())] or " "
        behind = old[len(old.rstrip()) :]
        return f"{blank}{toml_value(value)}{behind}{rest[at:]}"
    return f" {toml_value(value)}{rest[len(body) :]}"
