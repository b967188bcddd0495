"""A write program, carried out and counted, inside its transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from ematix_flow.errors import NeedsConsent, TargetError
from ematix_flow.ports import TargetSession
from ematix_flow.spec.counts import RowCounts
from ematix_flow.sqltext.program import Effect, Program
from ematix_flow.sqltext.program.statement import MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A program to be applied.

    :param target: What the target is called in messages.
    :param staged: How many rows there are to take.
    :param quarantined: How many more were set aside before: their keys are not in the input.
    :param consent: Whether its user agreed to lose much.
    """

    session: TargetSession
    program: Program
    target: str
    staged: int
    quarantined: int
    consent: bool

    def counts(self) -> RowCounts:
        """Compute the changes, carry them out, and count them."""
        for statement in self.program.computes:
            self.session.execute(statement.sql)
        noted = self._tally()
        if not self.consent:
            self._require_few(noted)
        counts = dict.fromkeys(Effect, 0)
        for statement in self.program.applies:
            touched = self.session.execute(statement.sql)
            expected = sum(noted.get(op, 0) for op in statement.ops)
            if statement.ops and touched != expected:
                raise _miscounted(self.target, statement.effect, touched, expected)
            counts[statement.effect] += touched
        inserted = counts[Effect.INSERTED]
        if self.program.takes_all and inserted != self.staged:
            raise _miscounted(self.target, Effect.INSERTED, inserted, self.staged)
        return RowCounts(
            inserted=inserted,
            updated=counts[Effect.UPDATED],
            closed=counts[Effect.CLOSED],
            deleted=counts[Effect.DELETED],
            unchanged=self._unchanged(noted, inserted),
        )

    def _tally(self) -> dict[str, int]:
        if self.program.tally is None:
            return {}
        return {str(op): int(str(count)) for op, count in self.session.fetch(self.program.tally)}

    def _unchanged(self, noted: Mapping[str, int], inserted: int) -> int:
        """Return how many rows of the input changed nothing."""
        if self.program.unchanged is not None:
            [[count]] = self.session.fetch(self.program.unchanged)
            return int(str(count))
        # A key that the input lacks is behind no row of it.
        behind = sum(count for op, count in noted.items() if op != MISSING)
        return self.staged - (inserted if self.program.tally is None else behind)

    def _require_few(self, noted: Mapping[str, int]) -> None:
        """Refuse to delete most of a table because a snapshot came short, or a row is aside."""
        guard, going = self.program.guard, noted.get(MISSING, 0)
        if guard is None or not going:
            return
        if self.quarantined:
            raise NeedsConsent(
                f"{going:,} keys of {self.target} are missing from the input and would be "
                f"deleted, but {self.quarantined:,} of its rows were set aside, and theirs may be "
                "among them; nothing was written",
                hint="correct those rows in the source; or, if the keys are gone, run again with "
                "--allow-destructive",
            )
        [[living]] = self.session.fetch(guard.living)
        there = int(str(living))
        # As it is written: 0.29 of 100 are 29, which floats would make a little less.
        if going > there * Decimal(str(guard.fraction)):
            raise NeedsConsent(
                f"{going:,} of the {there:,} keys of {self.target} are missing from the input and "
                f"would be deleted, more than max_delete_fraction={guard.fraction}; "
                "nothing was written",
                hint="is the source complete? if so, run again with --allow-destructive",
            )


def _miscounted(name: str, effect: Effect, touched: int, expected: int) -> TargetError:
    if effect is Effect.INSERTED:
        return TargetError(
            f"{name} took {touched:,} rows, but {expected:,} were staged; the load was rolled back",
            hint="is there a trigger or rule on the table that drops rows?",
        )
    return TargetError(
        f"{touched:,} rows of {name} would be {effect.value}, but {expected:,} keys changed; "
        "the load was rolled back",
        hint="does the table hold a key more than once? then it is no key, or rows are doubled",
    )
