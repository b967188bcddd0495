"""A URL taken apart, with its `${...}` left whole."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from ematix_flow.connections.reference import references, replaced

# Stand for a reference while the URL is cut: what they name may hold any of :/?#@.
_OPEN, _CLOSE = "\ue000", "\ue001"
_HELD = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_HOST_AND_PORT = re.compile(r"(?P<host>\[[^\]]*\]|[^:]*)(?::(?P<port>.*))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The parts of a URL, percent-decoded; what a reference stands for is never decoded."""

    scheme: str
    host: str = ""
    """One host, or several with their ports, as in `one:9092,two:9092`."""
    port: str | None = None
    user: str | None = None
    password: str | None = None
    path: str = ""
    """Without its first slash."""
    query: dict[str, str] = field(default_factory=dict)
    stray_at: bool = False
    """An @ behind the host: of a password, perhaps, whose / or ? is not percent-encoded."""

    @classmethod
    def of(cls, url: str) -> Address:
        """Take *url* apart; ValueError (which shows nothing of it) where that loses something."""
        held = list(references(url))
        numbers = iter(range(len(held)))
        rest = replaced(url, lambda _: f"{_OPEN}{next(numbers)}{_CLOSE}")

        def whole(text: str | None) -> str | None:
            if text is None:
                return None
            try:
                decoded = unquote(text, errors="strict")
            except UnicodeDecodeError:
                raise ValueError("its URL percent-encodes bytes that are not UTF-8") from None
            return _HELD.sub(lambda match: f"${{{held[int(match[1])]}}}", decoded)

        scheme, _, rest = rest.partition("://")
        rest, _, query = rest.partition("?")
        authority, _, path = rest.partition("/")
        stray = "@" in path + query
        login, has_login, place = authority.rpartition("@")
        user, has_password, password = login.partition(":")
        host, port = _host_and_port(place)
        pairs = [pair.partition("=") for pair in query.split("&") if pair]
        asked = {whole(name) or "": whole(value) or "" for name, _, value in pairs}
        if len(asked) < len(pairs):
            raise ValueError("its URL says something twice behind the ?")
        return cls(
            scheme=scheme.lower(),
            host=whole(host) or "",
            port=whole(port),
            user=whole(user) if has_login and user else None,
            password=whole(password) if has_password else None,
            path=whole(path) or "",
            query=asked,
            stray_at=stray and not has_login and bool(host),
        )


def _host_and_port(place: str) -> tuple[str, str | None]:
    if "," in place:
        return place, None
    found = _HOST_AND_PORT.fullmatch(place)
    assert found is not None  # the pattern takes anything
    return found["host"].strip("[]"), found["port"] or None
