"""The types with parameters, as user code meets them: `Numeric[10, 2]`, `String[2] | None`.

A type checker reads an annotation as a type expression, in which `10` is no type and a tuple is
none either. pyright leaves the brackets of a class with its own `__class_getitem__` alone. mypy
leaves only those of `Any` alone, and knows itself by the name MYPY. So mypy takes these four for
Any, and everything else sees the classes. Our own modules import those from `types`.
"""

from __future__ import annotations

__all__ = ["Array", "Numeric", "String", "Struct"]

MYPY = False

if MYPY:
    from ematix_flow.spec.unchecked_types import Array, Numeric, String, Struct
else:
    # Imported, not assigned: pyright allows no variable in an annotation.
    from ematix_flow.spec.types import Array, Numeric, String, Struct
