"""An error of whoever gives rows is not lost with whoever takes them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ematix_flow._base.hidden_failure import HiddenFailure


def failing(error: BaseException) -> Iterator[int]:
    yield 1
    raise error


def taken_by_a_driver(rows: Iterator[int]) -> None:
    try:
        list(rows)
    except (ValueError, KeyboardInterrupt) as error:
        raise RuntimeError(f"stream failed: {error}") from None


@pytest.mark.parametrize("error", [ValueError("the source is gone"), KeyboardInterrupt()])
def test_what_the_giver_raised_is_raised(error):
    hidden = HiddenFailure()
    with pytest.raises(type(error)) as caught, hidden.revealed():
        taken_by_a_driver(hidden.given(failing(error)))
    assert caught.value is error


def test_what_the_taker_raised_stays():
    hidden = HiddenFailure()
    next(hidden.given(iter([1, 2])))
    with pytest.raises(RuntimeError, match="no room"), hidden.revealed():
        raise RuntimeError("no room")
    assert hidden.error is None


def test_a_taker_that_stops_early_is_no_failure():
    hidden = HiddenFailure()
    rows = hidden.given(iter([1, 2]))
    next(rows)
    rows.close()
    assert hidden.error is None
