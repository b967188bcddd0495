"""Names made from names."""

from __future__ import annotations

import re


def snake_case(name: str) -> str:
    """Return the class name `DailySales` as `daily_sales`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
