"""The one place where secrets are removed from text.

Two nets: values registered as secret when a connection is resolved are removed
wherever they appear; and text that looks like a credential (a password in a URL,
`password=...`, a bearer token) is removed even if nobody registered it.
"""

from __future__ import annotations

import re
import threading
from urllib.parse import quote, quote_plus

MASK = "***"

# Shorter values would mask ordinary text ("a", "id"); real secrets are longer.
_SHORTEST_SECRET = 4

_CREDENTIAL_KEYS = (
    r"(?:[\w.\-]*(?:password|passwd|pwd|secret|token|api[_\-]?key|access[_\-]?key|credential)"
    r"[\w\-]*)"
)
_URL_PASSWORD = re.compile(r"(?P<head>[a-zA-Z][\w+.\-]*://[^\s/:@'\"]*:)(?P<secret>[^\s'\"]+)(?=@)")
_KEY_VALUE = re.compile(
    rf"(?P<head>\b{_CREDENTIAL_KEYS}['\"]?\s*(?:=|:)\s*)"
    r"(?P<secret>\"[^\"]*\"|'[^']*'|[^\s,;&)\]}'\"]+)",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(?P<head>\bbearer\s+)(?P<secret>[\w\-.~+/]+=*)", re.IGNORECASE)

_lock = threading.Lock()
_secrets: set[str] = set()


def register_secret(value: str) -> None:
    """Remember *value* (and its URL-quoted forms) so that it never reaches any output."""
    if len(value) < _SHORTEST_SECRET:
        return
    with _lock:
        _secrets.update({value, quote(value, safe=""), quote_plus(value)})


def redact(text: str) -> str:
    """Return *text* without any secret.

    >>> redact("postgres://app:hunter2@db/shop password=hunter2")
    'postgres://app:***@db/shop password=***'
    """
    with _lock:
        known = sorted(_secrets, key=len, reverse=True)
    for secret in known:
        text = text.replace(secret, MASK)
    for pattern in (_URL_PASSWORD, _KEY_VALUE, _BEARER):
        text = pattern.sub(_keep_head, text)
    return text


def redact_data(value: object) -> object:
    """Return *value* (JSON-like) with every string in it redacted."""
    match value:
        case str():
            return redact(value)
        case dict():
            return {key: redact_data(item) for key, item in value.items()}
        case list() | tuple():
            return [redact_data(item) for item in value]
        case _:
            return value


def _keep_head(match: re.Match[str]) -> str:
    return match["head"] + MASK
