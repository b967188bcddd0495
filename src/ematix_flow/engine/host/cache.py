"""Where what can be fetched or made again is kept: jars, the class archive, a private Java."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

CACHE_VARIABLE = "EMATIX_FLOW_CACHE"


def cache_directory(environ: Mapping[str, str] | None = None) -> Path:
    """Return the cache directory of this user; nothing is created here.

    `EMATIX_FLOW_CACHE` wins, so that a build machine can keep it with its other caches.
    """
    chosen = (os.environ if environ is None else environ).get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    from platformdirs import user_cache_path

    return user_cache_path("ematix-flow", appauthor=False)
