"""What a policy makes of the differences between a table and its declaration.

Three differences are never drift, because no row can be lost or refused by them:

- a column of the table that is not declared, as long as it may be NULL: it stays NULL;
- a column declared NOT NULL that may be NULL in the table: every row is judged before
  it is written, so none of ours is NULL;
- a column of SQLite that is declared wider: its INTEGER holds a BIGINT as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ematix_flow._base.location import Location
from ematix_flow.errors import DriftError
from ematix_flow.plan.diff import Change, ChangeKind, SchemaDiff
from ematix_flow.spec.modes import OnDrift
from ematix_flow.spec.table import TableName

_APPLIED = (ChangeKind.ADD, ChangeKind.WIDEN, ChangeKind.NULLABLE)
# Where rows fit. A wider type fits only where columns have no width: in SQLite.
_HARMLESS = (ChangeKind.DROP, ChangeKind.NOT_NULL, ChangeKind.WIDEN)
# Not NOT_NULL: rows from before an added column have no value, and the statement would only fail.
_CONSENTED = (ChangeKind.DROP, ChangeKind.NARROW, ChangeKind.RETYPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftDecision:
    """What to do before the rows are written.

    :param ddl: The statements to run; they lose nothing.
    :param destructive: The changes without which rows cannot be written, and which need consent.
    :param optional: Changes that need consent too, but may as well be left.
    :param warnings: What the user should know, one line each.
    """

    ddl: tuple[str, ...] = ()
    destructive: tuple[Change, ...] = ()
    optional: tuple[Change, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def destructive_ddl(self) -> tuple[str, ...]:
        """The statements of `destructive`, to run once consent is given."""
        return tuple(change.sql for change in self.destructive if change.sql)

    @property
    def optional_ddl(self) -> tuple[str, ...]:
        """The statements of `optional`, to run where consent is given."""
        return tuple(change.sql for change in self.optional if change.sql)


def resolve_drift(
    diff: SchemaDiff, on_drift: OnDrift, where: Location | str, table: TableName
) -> DriftDecision:
    """Return what *on_drift* makes of the differences; DriftError where it refuses them."""
    match on_drift:
        case OnDrift.ERROR:
            return _refuse(diff, where, table)
        case OnDrift.WARN:
            return _go_on(diff, where, table)
        case OnDrift.EVOLVE:
            return _evolve(diff, where, table)
        case OnDrift.DISCARD_VALUE | OnDrift.DISCARD_ROW:
            # What could be discarded is no difference any more: see `fitted`.
            return _go_on(diff, where, table)


def _refuse(diff: SchemaDiff, where: Location | str, table: TableName) -> DriftDecision:
    problems = [change for change in diff.changes if not _is_no_drift(change)]
    if problems:
        evolvable = all(change.kind in _APPLIED and change.sql for change in problems)
        raise _drift_error(
            table,
            problems,
            where,
            diff,
            "set on_drift='evolve' to let flow alter it, or change the declaration"
            if evolvable
            else "change the declaration, or alter the table by hand; nothing was changed",
        )
    return DriftDecision()


def _go_on(diff: SchemaDiff, where: Location | str, table: TableName) -> DriftDecision:
    misfits = [change for change in diff.changes if not change.fits]
    if misfits:
        hint = "rows would be lost or refused; set on_drift='evolve', or change the declaration"
        raise _drift_error(table, misfits, where, diff, hint)
    return DriftDecision(warnings=tuple(_told(table, change) for change in diff.changes))


def _evolve(diff: SchemaDiff, where: Location | str, table: TableName) -> DriftDecision:
    # What no statement can change, and what rows cannot live with.
    stuck = [
        change
        for change in diff.changes
        if change.kind is ChangeKind.KEY or (change.sql is None and not change.fits)
    ]
    if stuck:
        notes = "; ".join(dict.fromkeys(change.note for change in stuck if change.note))
        raise _drift_error(table, stuck, where, diff, notes or "alter the table by hand")
    applied = [change for change in diff.of(*_APPLIED) if change.sql]
    consented = [change for change in diff.of(*_CONSENTED) if change.sql]
    # What may have been renamed holds values under another name: never dropped here.
    renamed = {change.actual for change in diff.of(ChangeKind.RENAME)}
    optional = tuple(change for change in consented if change.fits and change.column not in renamed)
    told = (*(change for change in applied if change.note), *diff.of(ChangeKind.RENAME))
    return DriftDecision(
        ddl=tuple(change.sql for change in applied if change.sql),
        destructive=tuple(change for change in consented if not change.fits),
        optional=optional,
        warnings=(
            *(_told(table, change) for change in told),
            *(f"{table}: {change.text} (left as it is without consent)" for change in optional),
        ),
    )


def _is_no_drift(change: Change) -> bool:
    harmless = change.kind in _HARMLESS and change.fits
    return harmless or change.kind is ChangeKind.RENAME


def _told(table: TableName, change: Change) -> str:
    return f"{table}: {change.text}{f' ({change.note})' if change.note else ''}"


def _drift_error(
    table: TableName,
    changes: Sequence[Change],
    where: Location | str,
    diff: SchemaDiff,
    hint: str,
) -> DriftError:
    problems = "; ".join(change.text for change in changes)
    guesses = diff.of(ChangeKind.RENAME)
    details = "\n".join(f"  {guess.text}: {guess.sql}" for guess in guesses) or None
    return DriftError(
        f"table {table} differs from its declaration: {problems}",
        where=where,
        details=details,
        hint=hint,
    )
