"""Ending Spark's work from another thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def interruptible(session: Any, tag: str) -> Iterator[None]:
    """Let `interrupt` with the same tag end what this thread has Spark do in the block.

    An engine that knows no tags is waited for.
    """
    with suppress(Exception):
        if _is_classic(session):
            session.sparkContext.addJobTag(tag)
        else:
            session.addTag(tag)
    try:
        yield
    finally:
        with suppress(Exception):
            if _is_classic(session):
                session.sparkContext.removeJobTag(tag)
            else:
                session.removeTag(tag)


def interrupt(session: Any, tag: str) -> None:
    """End the work that was begun under *tag*; other work of the same session goes on."""
    with suppress(Exception):
        if _is_classic(session):
            session.sparkContext.cancelJobsWithTag(tag)
        else:
            session.interruptTag(tag)


def _is_classic(session: Any) -> bool:
    # A classic session takes tags too, but finds no job of collect() by them.
    return hasattr(session, "_jsparkSession")
