"""Waiting is bounded, whatever the condition does."""

from __future__ import annotations

from tests.services.polling import until


class ScriptedClock:
    """Time that passes only while somebody pauses."""

    def __init__(self) -> None:
        self.time = 100.0
        self.pauses = 0

    def now(self) -> float:
        return self.time

    def pause(self, seconds: float) -> None:
        self.time += seconds
        self.pauses += 1


def test_a_condition_that_holds_is_not_waited_for() -> None:
    clock = ScriptedClock()
    assert until(lambda: True, seconds=0, now=clock.now, pause=clock.pause)
    assert clock.pauses == 0


def test_it_returns_as_soon_as_the_condition_holds() -> None:
    clock = ScriptedClock()
    reached = until(lambda: clock.pauses == 3, seconds=60, now=clock.now, pause=clock.pause)
    assert reached
    assert clock.pauses == 3


def test_it_gives_up_at_the_deadline() -> None:
    clock = ScriptedClock()
    assert not until(lambda: False, seconds=10, every=1, now=clock.now, pause=clock.pause)
    assert clock.pauses == 10
