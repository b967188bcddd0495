"""`~/.ematix-flow/connections.toml`: a user's own connections, for every project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ematix_flow.connections.toml_file import read_toml

HOME_FILE = Path(".ematix-flow") / "connections.toml"


def home_of(environ: Mapping[str, str]) -> Path:
    """Return the home folder of the user whose environment this is."""
    return Path(environ["HOME"]) if "HOME" in environ else Path.home()


def home_connections(home: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return what the file in *home* describes; no file, no connections."""
    file = home / HOME_FILE
    if not file.is_file():
        return {}
    content = read_toml(file, 'kind = "postgres"')
    found = content.get("connections", content)
    return found if isinstance(found, dict) else {}
