"""Rows that travel together, where their texts are long."""

import pyarrow as pa
import pytest

from ematix_flow.backends.batch import batches_of, in_parts


def test_what_arrow_had_to_divide_becomes_several_batches():
    # As Arrow returns it for more than 2 GB of text.
    words = pa.chunked_array([["a", "b"], ["c"]])
    found = batches_of([pa.array([1, 2, 3]), words], ["id", "words"])
    assert [batch.num_rows for batch in found] == [2, 1]
    assert pa.Table.from_batches(found).to_pydict() == {"id": [1, 2, 3], "words": ["a", "b", "c"]}


@pytest.mark.parametrize(("most", "parts"), [(10**9, 1), (500, 5), (1, 10)])
def test_a_batch_of_long_texts_is_divided(most, parts):
    batch = pa.record_batch({"id": list(range(10)), "words": ["x" * 200] * 10})
    found = list(in_parts(batch, most))
    assert len(found) == parts
    assert pa.Table.from_batches(found) == pa.Table.from_batches([batch])
    assert list(in_parts(batch.slice(0, 0))) == []
