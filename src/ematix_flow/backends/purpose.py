"""What a session with a database is for."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """How a session is set up.

    :param lock_seconds: How long to wait for what another session of the server has locked. A
        database in a file is locked as a whole, and has a patience of its own.
    :param most_seconds: How long a statement may take; None where it takes its time.
    :param writes: Whether anything may be changed.
    :param any_type: Whether it is given columns of whatever types the database has: those of the
        user's query.
    """

    lock_seconds: float
    most_seconds: int | None = None
    writes: bool = False
    any_type: bool = False


# Looking at metadata waits for nobody long: whoever alters a table holds it exclusively.
LOOKING = Purpose(lock_seconds=10, most_seconds=60)
# Having the database analyse the user's query is looking, too.
DESCRIBING = replace(LOOKING, any_type=True)
# A query over much data takes its time; the user's server may have a limit of its own.
READING = Purpose(lock_seconds=60, any_type=True)
# Another commit of the same pipeline holds the fence for as long as it takes.
WRITING = Purpose(lock_seconds=300, writes=True)
# Whoever still fills or reads a left table keeps it; waiting for that would hold this run up.
SWEEPING = replace(WRITING, lock_seconds=1)
