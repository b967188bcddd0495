"""A target that lets a test step in between the statements of a commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class SteppingTarget:
    """Calls *step* with a number before every statement, and around the commit itself.

    :ivar count: How many steps there were.
    :ivar done_at: The step at which everything is done and nothing is committed.
    """

    def __init__(self, target, step: Callable[[int], None] = lambda _: None) -> None:
        self._target, self._step = target, step
        self.count, self.done_at = 0, -1

    def __getattr__(self, name):
        return getattr(self._target, name)

    @contextmanager
    def open(self) -> Iterator[_SteppingSession]:
        with self._target.open() as session:
            yield _SteppingSession(session, self)

    def take_step(self) -> None:
        number, self.count = self.count, self.count + 1
        self._step(number)


class _SteppingSession:
    def __init__(self, session, target: SteppingTarget) -> None:
        self._session, self._target = session, target

    def __getattr__(self, name):
        return getattr(self._session, name)

    def execute(self, *arguments):
        self._target.take_step()
        return self._session.execute(*arguments)

    def show_staging(self, *arguments):
        self._target.take_step()
        return self._session.show_staging(*arguments)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._session.transaction():
            yield
            self._target.done_at = self._target.count
            self._target.take_step()
        self._target.take_step()
