"""What goes wrong with rows while somebody else takes them, who would hide it.

A driver or library that is handed an iterator tells only the text of what it raised, if that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

_Row = TypeVar("_Row")


@dataclass(slots=True)
class HiddenFailure:
    """Remembers an error of the giver while the taker is at work.

    :ivar error: The error; None as long as nothing went wrong with what is given.
    """

    error: BaseException | None = None

    def given(self, rows: Iterable[_Row]) -> Iterator[_Row]:
        """Give *rows*, and remember what they raise."""
        try:
            yield from rows
        except GeneratorExit:
            raise
        except BaseException as error:
            # An interrupt, too: whoever takes the rows knows it only as a failure of theirs.
            self.error = error
            raise

    @contextmanager
    def revealed(self) -> Iterator[None]:
        """Raise the remembered error, where there is one, instead of what the taker says of it."""
        try:
            yield
        except Exception:
            if self.error is not None:
                raise self.error from None
            raise
