"""What mypy takes the types with parameters for; see `type_annotations`. Never imported."""

from __future__ import annotations

from typing import Any

Array: Any
Numeric: Any
String: Any
Struct: Any
