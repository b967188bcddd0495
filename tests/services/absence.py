"""What becomes of a test whose server cannot be had."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NoReturn

import pytest

from tests.services.install import python_client
from tests.services.service import CannotInstall


def in_ci(environment: Mapping[str, str] = os.environ) -> bool:
    return environment.get("CI", "").lower() in ("true", "1")


def absent(reason: str) -> NoReturn:
    """Skip on a developer's machine; fail in CI, where a skipped server would go unnoticed."""
    if in_ci():
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def required(module: str, requirement: str) -> Any:
    """Import a client package for a test, like `pytest.importorskip` but failing in CI."""
    try:
        return python_client(module, requirement)
    except CannotInstall as missing:
        absent(str(missing))
