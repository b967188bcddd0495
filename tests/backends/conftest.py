"""One suite, every backend. A gap is marked with its reason, never skipped.

`notimpl` is our debt, `notyet` upstream's, `never` cannot be. Each runs and must
fail: `xfail_strict` turns a mark red on the day its gap is closed.
"""

from __future__ import annotations

import pytest

SOURCES = ("csv", "parquet", "sqlite", "duckdb")
TARGETS = ("sqlite", "duckdb", "csv", "parquet")
_MARKS = ("notimpl", "notyet", "never")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for role, kinds in (("source_kind", SOURCES), ("target_kind", TARGETS)):
        if role in metafunc.fixturenames:
            metafunc.parametrize(role, kinds)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        for name in _MARKS:
            for mark in item.iter_markers(name):
                sources, targets = mark.kwargs.get("sources", ()), mark.kwargs.get("targets", ())
                if parameters.get("source_kind") in sources or (
                    parameters.get("target_kind") in targets
                ):
                    reason, raises = f"{name}: {mark.kwargs['reason']}", mark.kwargs["raises"]
                    item.add_marker(pytest.mark.xfail(reason=reason, raises=raises, strict=True))
