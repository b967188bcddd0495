"""`~/.ematix-flow/connections.toml`: a user's own connections, for every project."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ematix_flow.errors import ConfigError

HOME_FILE = Path(".ematix-flow") / "connections.toml"


def home_connections(home: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return what the file in *home* describes; no file, no connections."""
    file = home / HOME_FILE
    if not file.is_file():
        return {}
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"not valid TOML: {error}", where=str(file)) from error
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", where=str(file)) from error
    found = content.get("connections", content)
    return found if isinstance(found, dict) else {}
