"""UUIDs as COPY sends them: 16 bytes, for 36 characters."""

from __future__ import annotations

from string import hexdigits
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

UUID_BYTES = 16

_CHARACTERS = 36
_HYPHENS = (8, 13, 18, 23)
_NONE = "00000000-0000-0000-0000-000000000000"
_NO_DIGIT = 255
# The value of each character as a digit.
_DIGITS = bytes(int(chr(each), 16) if chr(each) in hexdigits else _NO_DIGIT for each in range(256))


def uuid_bytes(texts: pa.Array) -> pa.Array:
    """Return UUIDs in their canonical spelling as bytes; ValueError where one is spelt otherwise.

    A million at once, so all digits of all of them are looked up together.
    """
    import numpy as np
    import pyarrow as pa

    filled = texts.fill_null(_NONE) if texts.null_count else texts
    _, offsets, data = filled.buffers()
    bounds = np.frombuffer(offsets, np.int32)[filled.offset : filled.offset + len(filled) + 1]
    if (np.diff(bounds) != _CHARACTERS).any():
        raise ValueError("a UUID has 36 characters")
    characters = np.frombuffer(data or b"", np.uint8)[bounds[0] : bounds[-1]]
    spelt = characters.reshape(len(filled), _CHARACTERS)
    digits = np.frombuffer(_DIGITS, np.uint8)[np.delete(spelt, _HYPHENS, axis=1)]
    if (digits == _NO_DIGIT).any() or (spelt[:, _HYPHENS] != ord("-")).any():
        raise ValueError("a UUID consists of hexadecimal digits and hyphens")
    packed = pa.py_buffer((digits[:, ::2] << 4 | digits[:, 1::2]).tobytes())
    return pa.Array.from_buffers(
        pa.binary(UUID_BYTES),
        len(texts),
        [_valid(texts), packed],
        null_count=texts.null_count,
    )


def _valid(texts: pa.Array) -> pa.Buffer | None:
    if not texts.null_count:
        return None
    # Without an offset: the bits of a part of an array begin anywhere.
    import pyarrow.compute as pc

    return pc.is_valid(texts).buffers()[1]
