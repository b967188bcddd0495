"""`${...}` in a text: where the references are, and what they may show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ematix_flow._base.redact import MASK

_REFERENCE = re.compile(r"\$\{(?P<body>[^}]*)\}")


def has_reference(text: str) -> bool:
    """Tell whether *text* holds a reference."""
    return _REFERENCE.search(text) is not None


def only_references(text: str) -> bool:
    """Tell whether *text* is made of references and nothing else."""
    return has_reference(text) and not _REFERENCE.sub("", text)


def is_spelt_out(text: str) -> bool:
    """Tell whether a secret is written down here: no reference, or one with a default."""
    defaults = [body.partition(":-")[2] for body in references(text)]
    return not defaults or any(defaults)


def references(text: str) -> Iterator[str]:
    """Give what stands between the braces of each reference."""
    return (match["body"] for match in _REFERENCE.finditer(text))


def replaced(text: str, value: Callable[[str], str]) -> str:
    """Return *text* with each reference replaced by what *value* says of it."""
    return _REFERENCE.sub(lambda match: value(match["body"]), text)


def masked_default(text: str) -> str:
    """Return *text* without the defaults of its references.

    >>> masked_default("${DB_PASSWORD:-hunter2}")
    '${DB_PASSWORD:-***}'
    """

    def shown(body: str) -> str:
        name, has_default, _ = body.partition(":-")
        return f"${{{name}{':-' + MASK if has_default else ''}}}"

    return replaced(text, shown)
