"""Sail: a native engine behind the Spark Connect protocol, inside this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ematix_flow.errors import EngineError

# Beside a full pyspark the extra would bring pyspark-client, which overwrites its files.
_HINT = "pip install 'ematix-flow[sail]' (beside pyspark: pip install 'pysail>=0.7,<0.8')"


@contextmanager
def sail_server() -> Iterator[str]:
    """Run Sail on a free loopback port and give its `sc://` address."""
    # Read once, when its native part is loaded; it logs every query otherwise.
    os.environ.setdefault("RUST_LOG", "error")
    try:
        from pysail.spark import SparkConnectServer
    except ImportError:
        raise EngineError(
            "the engine 'sail' needs the package pysail, which is not installed",
            hint=_HINT,
        ) from None
    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    try:
        _, port = server.listening_address
        yield f"sc://localhost:{port}"
    finally:
        server.stop()
