"""A range of the past, cut into chunks that meet without a gap."""

from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ematix_flow.engine.runs.chunks import chunks


def test_days_stay_days():
    assert chunks("2026-01-30", "2026-02-02", "2d") == (
        (">= date 2026-01-30", "< date 2026-02-01"),
        (">= date 2026-02-01", "< date 2026-02-02"),
    )


def test_parts_of_a_day_have_times():
    assert chunks("2026-01-01", "2026-01-02", "12h") == (
        (">= date 2026-01-01", "< timestamp 2026-01-01 12:00:00.000000"),
        (">= timestamp 2026-01-01 12:00:00.000000", "< date 2026-01-02"),
    )


def test_instants_stay_instants():
    cut = chunks("2026-01-01T00:00:00Z", "2026-01-01T02:00:00+01:00", "30m")
    assert [each[1] for each in cut] == [
        "< timestamptz 2026-01-01 00:30:00.000000",
        "< timestamptz 2026-01-01 01:00:00.000000",
    ]


def test_without_a_chunk_the_range_is_one():
    assert chunks("1", "9") == ((">= integer 1", "< integer 9"),)
    assert chunks("a", "b") == ((">= text a", "< text b"),)


@pytest.mark.proves("backfill")
@given(st.integers(-(10**9), 10**9), st.integers(1, 10**6), st.integers(1, 10**5))
def test_chunks_of_numbers_meet_and_cover_the_range(start, length, step):
    if length // step >= 1000:
        step = length // 1000 + 1
    cut = chunks(str(start), str(start + length), str(step))
    assert cut[0][0] == f">= integer {start}"
    assert cut[-1][1] == f"< integer {start + length}"
    assert all(one[1][2:] == other[0][3:] for one, other in pairwise(cut))
    assert len(cut) == -(-length // step)


@pytest.mark.proves("backfill")
@given(st.dates(max_value=date(9000, 1, 1)), st.integers(1, 400), st.integers(1, 30))
def test_chunks_of_days_meet_and_cover_the_range(start, days, step):
    end = start + timedelta(days=days)
    cut = chunks(start.isoformat(), end.isoformat(), f"{step}d")
    assert (cut[0][0], cut[-1][1]) == (f">= date {start}", f"< date {end}")
    assert all(one[1][2:] == other[0][3:] for one, other in pairwise(cut))
