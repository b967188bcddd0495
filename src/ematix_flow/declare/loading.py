"""While a project's modules are loaded, they declare; nothing of it is run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ematix_flow.errors import UsageError

_loading: ContextVar[bool] = ContextVar("loading", default=False)


@contextmanager
def loading() -> Iterator[None]:
    """Refuse runs in the block: `flow list` must not load rows."""
    before = _loading.set(True)
    try:
        yield
    finally:
        _loading.reset(before)


def refuse_while_loading(what: str) -> None:
    """Refuse *what* where a module of the project asks for it when it is imported."""
    if _loading.get():
        raise UsageError(
            f"{what} while the modules of the project are loaded; nothing was run",
            hint='put it under `if __name__ == "__main__":`, or into a script of another folder',
        )
