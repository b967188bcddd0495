"""The one place where secrets are removed from text.

Two nets: values registered as secret when a project is opened are removed wherever
they appear; and what looks like a credential (a password in a URL, `password=...`,
a value under a secret's name) is removed even if nobody registered it.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote

MASK = "***"

# Shorter values would mask ordinary text ("a", "id"); real secrets are longer.
_SHORTEST_SECRET = 4
_SHORTEST_LINE = 12
_MOST_LINES = 200

# Names are compared as lower-case words joined by `_`: fs.s3a.secret.key, secretKey, secret-key.
_WORD_BREAK = re.compile(r"[.\-_]+|(?<=[a-z0-9])(?=[A-Z])")
_SECRET_NAME = re.compile(
    r"(?:password|passwd|passphrase|pwd|secret)s?(?:_|\d|$)"
    r"|(?:_|pg)pass$"
    r"|token$|credentials?$"
    r"|(?:api|access|private)_?key(?:_id)?$"
    # Kafka's clients: `user:password`, and keys as PEM text.
    r"|user_?info$|keystore_key$|key_pem$"
    # Azure puts the account's name behind it.
    r"|account_?key(?:_|$)"
)

# Possessive (`++`) and anchored at the start of a word, so that long text costs linear time.
_KEY = re.compile(r"(?<![\w.\-])(?P<name>[\w.\-]++)['\"]?[ \t]*+[=:]++>?[ \t]*+")
# A quote that never closes (cut off text) hides the rest of its line.
_VALUE = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?|(?:\$\{[^}\n]{0,256}+\}|[^\s,;&)\]}'\"])++",
)
# The password ends at the last @ before the path; one with a bare slash in it ends at the next @,
# unless it is a port.
_URL_PASSWORD = re.compile(
    r"(?<![\w+.\-])[\w+.\-]++://[^\s/:@'\"]*+:"
    r"(?P<secret>[^\s/?#'\"]+|(?!\d+[/?#])[^\s@'\"]{1,256}+)(?=@)"
)
_AUTHORIZATION = re.compile(
    r"(?:\bauthorization['\"]?\s*[:=]\s*['\"]?(?:\w+\s+)?|\bbearer\s+)(?P<secret>[\w\-.~+/]+=*)",
    re.IGNORECASE,
)
# `${DB_PASSWORD}` says where a secret is, and is none; a default in it would be one. `...` stands
# for whatever is to be written there.
_NO_SECRET = re.compile(
    r"(?P<quote>['\"]?)"
    r"(?:(?:\$\{(?:(?!:-)[^}\n]){0,256}+(?::-\*\*\*)?\})++|-?\.\.\.|-?\*\*\*)"
    r"(?P=quote)(?=[\s,;&)\]}'\"]|$)"
)

_lock = threading.Lock()
_secrets: set[str] = set()


class _Span(NamedTuple):
    start: int
    end: int


def register_secret(value: str) -> None:
    """Remember *value*, however it is spelt, so that it never reaches any output."""
    if len(value) < _SHORTEST_SECRET:
        return
    with _lock:
        _secrets.update(_spellings(value))
        # Text of several lines, as a key, may be shown line by line.
        for line in value.splitlines()[:_MOST_LINES] if "\n" in value else ():
            if len(line) >= _SHORTEST_LINE:
                _secrets.update(_spellings(line))


def _spellings(value: str) -> set[str]:
    encoded = {quote(value), quote(value, safe=""), quote_plus(value)} if _is_text(value) else set()
    return {value, *encoded, repr(value)[1:-1], json.dumps(value)[1:-1]}


def _is_text(value: str) -> bool:
    """Tell whether it can be encoded: a variable may hold bytes that are no text."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def register_secrets_in(text: str) -> None:
    """Remember the credentials that *text* (a URL, a DSN) spells out, but not *text* itself."""
    for spans in (_url_passwords(text), _secret_values(text)):
        for start, end in spans:
            secret = text[start:end].strip("'\"")
            register_secret(secret)
            register_secret(unquote(secret))


def looks_secret(name: str) -> bool:
    """Tell whether *name* is what people call a secret.

    >>> looks_secret("spark.hadoop.fs.s3a.secret.key"), looks_secret("token_count")
    (True, False)
    """
    return _SECRET_NAME.search(_WORD_BREAK.sub("_", name).lower()) is not None


def spells_secret(text: str) -> bool:
    """Tell whether *text* looks as if a credential were in it, whatever is registered."""
    finds = (_url_passwords, _secret_values, _authorizations)
    return any(next(find(text), None) is not None for find in finds)


def redact(text: str) -> str:
    """Return *text* without any secret.

    >>> redact("postgres://app:hunter2@db/shop password=hunter2")
    'postgres://app:***@db/shop password=***'
    """
    with _lock:
        known = sorted(_secrets, key=len, reverse=True)
    for secret in known:
        text = text.replace(secret, MASK)
    for find in (_url_passwords, _secret_values, _authorizations):
        text = _masked(text, find(text))
    return text


def redact_value(name: str, value: str) -> str:
    """Return *value* as it may be shown under *name*.

    >>> redact_value("password", "hunter2"), redact_value("password", "${DB_PASSWORD}")
    ('***', '${DB_PASSWORD}')
    """
    return MASK if looks_secret(name) and not _is_reference(value) else redact(value)


def redact_data(value: object) -> object:
    """Return *value* (JSON-like) with every string in it redacted, and what a name says is secret.

    >>> redact_data([{"password": "x y"}, {"key": "fs.s3a.secret.key", "value": "x y"}])
    [{'password': '***'}, {'key': 'fs.s3a.secret.key', 'value': '***'}]
    """
    return _Redaction().data(value)


class _Redaction:
    """One pass over one document. Its texts and names repeat, so each is looked at once."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._names: dict[str, bool] = {}

    def data(self, value: object) -> object:
        match value:
            case str():
                if value not in self._texts:
                    self._texts[value] = redact(value)
                return self._texts[value]
            case {"key": str(name), "value": _, **others} if self._looks_secret(name):
                return {"key": name, "value": MASK, **self._by_name(others)}
            case dict():
                return self._by_name(value)
            case list() | tuple():
                return [self.data(item) for item in value]
            case _:
                return value

    def _by_name(self, data: dict[Any, object]) -> dict[Any, object]:
        return {
            name: MASK
            if self._looks_secret(str(name)) and _may_be_secret(item)
            else self.data(item)
            for name, item in data.items()
        }

    def _looks_secret(self, name: str) -> bool:
        if name not in self._names:
            self._names[name] = looks_secret(name)
        return self._names[name]


def _may_be_secret(item: object) -> bool:
    return item is not None and not isinstance(item, bool) and not _is_reference(item)


def _is_reference(item: object) -> bool:
    return isinstance(item, str) and _NO_SECRET.fullmatch(item) is not None


def _url_passwords(text: str) -> Iterator[_Span]:
    return (_Span(*found.span("secret")) for found in _URL_PASSWORD.finditer(text))


def _authorizations(text: str) -> Iterator[_Span]:
    return (_Span(*found.span("secret")) for found in _AUTHORIZATION.finditer(text))


def _secret_values(text: str) -> Iterator[_Span]:
    done = 0
    for key in _KEY.finditer(text):
        if key.start() < done or not looks_secret(key["name"]):
            continue
        if shown := _NO_SECRET.match(text, key.end()):
            done = shown.end()
            continue
        value = _VALUE.match(text, key.end())
        if value is not None:
            done = value.end()
            yield _Span(*value.span())


def _masked(text: str, spans: Iterator[_Span]) -> str:
    parts, done = [], 0
    for start, end in spans:
        parts += [text[done:start], MASK]
        done = end
    return "".join([*parts, text[done:]])
