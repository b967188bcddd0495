"""UUIDs as PostgreSQL's COPY takes them."""

from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ematix_flow.backends.impl.postgres.uuids import uuid_bytes


# The first example waits for numpy to be imported.
@settings(deadline=None)
@given(st.lists(st.none() | st.uuids()), st.integers(0, 3))
def test_the_bytes_are_those_of_the_uuid(uuids: list[UUID | None], start: int) -> None:
    texts = pa.array([None if each is None else str(each) for each in uuids], pa.string())
    expected = [None if each is None else each.bytes for each in uuids]
    assert uuid_bytes(texts).to_pylist() == expected
    assert uuid_bytes(texts.slice(start)).to_pylist() == expected[start:]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0123456789abcdef0123456789abcdef",
        "0123456x-89ab-cdef-0123-456789abcdef",
        "01234567-89ab-cdef-0123_456789abcdef",
    ],
)
def test_what_is_no_uuid_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a UUID"):
        uuid_bytes(pa.array([text]))
