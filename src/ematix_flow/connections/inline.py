"""The warning about a secret that is written down where it will be read, copied and committed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ematix_flow._base.redact import looks_secret, spells_secret
from ematix_flow.connections.reference import is_spelt_out
from ematix_flow.connections.variables import in_variables

if TYPE_CHECKING:
    from ematix_flow.connections.model.property import Property

ALLOW = "EMATIX_FLOW_ALLOW_INLINE_SECRETS"
# How the origin of what came from the environment begins.
ENVIRONMENT = "environment"
# What Python keeps of warnings already given, so that each is given once.
_given: dict[Any, Any] = {}


class InlineCredentialWarning(UserWarning):
    """A secret is written literally in code or TOML."""


def declared_by_hand(origin: str) -> bool:
    """Tell whether someone wrote it down, in code or in a file."""
    return not origin.startswith(ENVIRONMENT)


def inline_secrets(values: Iterable[tuple[Property, Any]]) -> list[str]:
    """Return the names of the properties that hold a secret literally."""
    found: list[str] = []
    for each, value in values:
        if isinstance(value, str):
            if (each.secret or spells_secret(value)) and is_spelt_out(value):
                found.append(each.name)
        elif hasattr(value, "items"):
            found += [
                f"{each.name}.{key}"
                for key, text in value.items()
                if (looks_secret(key) or spells_secret(text)) and is_spelt_out(text)
            ]
    return found


def warn_inline(name: str, values: Iterable[tuple[Property, Any]], origin: str) -> None:
    """Warn of each secret among *values* that is written out."""
    if os.environ.get(ALLOW) in ("1", "true"):
        return
    for secret in inline_secrets(values):
        variable = in_variables(f"{name or 'connection'}_{secret}")
        warnings.warn_explicit(
            f"connection {name!r}: {secret} is written out in {origin or 'code'}; "
            f'write {secret} = "${{{variable}}}" and set that variable, or name a secret store: '
            f"${{vault:path#key}}, ${{aws:name#field}}, ${{gcp:name}} "
            f"({ALLOW}=1 silences this warning)",
            InlineCredentialWarning,
            # Not as file and line: Python would print that line, and the secret stands in it.
            filename=origin or "<connection>",
            lineno=0,
            registry=_given,
        )
