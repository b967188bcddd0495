"""Settings passed on to a client as they are: any name, any text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ematix_flow._base.redact import redact_value


class Settings(Mapping[str, str]):
    """A mapping of texts that cannot change and shows no secret.

    The names are kept in order, so that equal settings are written alike byte for byte.
    TOML reads `linger.ms = 5` as a table in a table; here both spellings are `linger.ms`.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        flat = _flat(values or {})
        self._values = {name: flat[name] for name in sorted(flat)}

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __repr__(self) -> str:
        return repr({name: redact_value(name, text) for name, text in self._values.items()})


def _flat(values: Mapping[str, Any], head: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in values.items():
        name = f"{head}{key}"
        inner = _flat(value, f"{name}.") if isinstance(value, Mapping) else {name: _text(value)}
        if twice := found.keys() & inner.keys():
            raise TypeError(f"{min(twice)} given twice")
        found |= inner
    return found


def _text(value: object) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            raise TypeError(f"a {type(value).__name__}")


NO_SETTINGS = Settings()
