"""Reading a TOML file of the user's, or saying what is wrong with it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from ematix_flow.errors import ConfigError


def read_toml(file: Path, example: str) -> dict[str, Any]:
    """Return what *file* holds; *example* is a line of it as it should be."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"not valid TOML: {error}",
            where=str(file),
            hint=f"a line is key = value, and text stands in quotes: {example}",
        ) from error
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", where=str(file)) from error
