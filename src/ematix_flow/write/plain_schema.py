"""Staged files, read in types that every kernel of Arrow knows.

Sail writes text as views, which Arrow can carry but not filter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyarrow import DataType, Schema


def plain_schema(schema: Schema) -> Schema:
    """Return *schema* with text and bytes in their ordinary form."""
    import pyarrow as pa

    return pa.schema([field.with_type(_plain(field.type)) for field in schema])


def _plain(kind: DataType) -> DataType:
    import pyarrow as pa

    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain(field.type)) for field in kind])
    return kind
