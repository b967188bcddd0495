"""Say which extra is missing, instead of an ImportError from the depths."""

from __future__ import annotations

from importlib.util import find_spec

from ematix_flow.errors import EngineError


def require_pyspark() -> None:
    """Raise unless some pyspark is installed."""
    if find_spec("pyspark") is None:
        raise EngineError(
            "running pipelines needs pyspark, which is not installed",
            hint="pip install 'ematix-flow[spark]' (or 'ematix-flow[sail]' to run without Java)",
        )


def require_classic() -> None:
    """Raise unless the installed pyspark holds a Spark of its own."""
    from pyspark.util import is_remote_only

    if is_remote_only():
        raise EngineError(
            "the installed pyspark-client can only connect to a server; it holds no Spark to run",
            hint="use the engine 'sail' or 'sc://...', or: pip install 'ematix-flow[spark]'",
        )


def package_of(kind: str) -> tuple[str, str]:
    """Return the package that an engine of this kind needs, and the extra that brings it."""
    return ("pysail", "sail") if kind == "sail" else ("pyspark", "spark")


def missing_engine(kind: str) -> EngineError | None:
    """Return the error for an engine whose package this Python lacks; nothing is imported."""
    package, extra = package_of(kind)
    if find_spec(package) is not None:
        return None
    return EngineError(f"{package} is not installed", hint=f"pip install 'ematix-flow[{extra}]'")
