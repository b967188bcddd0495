"""How environment variables spell the name of a connection or of its secret."""

from __future__ import annotations

import re


def in_variables(name: str) -> str:
    """Return *name* as part of a variable's name.

    >>> in_variables("shop-eu.password")
    'SHOP_EU_PASSWORD'
    """
    return re.sub(r"\W", "_", name).upper()
