"""The companion of a target: what the target cannot remember, so that order does not matter.

merge and scd1 need the order of the last event of a key, and of its last deletion: a late
event then finds out that it is late. scd2 needs the events that no version shows: those that
changed nothing when they came, and deletions.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from ematix_flow.spec.layout import AT, SEQUENCE, Layout
from ematix_flow.spec.layout import DELETED as IS_DELETION
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import Boolean, Text

SEQ = Column(name="_flow_last", type=Text(), nullable=True)
GONE = Column(name="_flow_gone", type=Text(), nullable=True)
FIRST = Column(name="_flow_first", type=Text(), nullable=True)
ORDER = Column(name=SEQUENCE, type=Text(), nullable=True)
DELETED = Column(name=IS_DELETION, type=Boolean(), nullable=True)
ROW = Column(name="_flow_row", type=Text(), nullable=True)

_PREFIX = "_flow_seq_"
# PostgreSQL would cut a longer name, and two cut names could be one.
_LONGEST = 63
_DIGEST = 8


def companion_name(target: TableName) -> TableName:
    """Return the name of the companion of *target*, in the same schema."""
    return TableName(name=_short(_PREFIX + target.name), schema=target.schema)


def of_column(name: str) -> Column:
    """Return the column that remembers which event set the column *name*."""
    return Column(name=_short(_PREFIX + name), type=Text(), nullable=True)


def companion_of(layout: Layout, target: TableName) -> Table | None:
    """Return the companion that a load needs; None where the target itself remembers enough."""
    if not layout.order:
        return None
    kept = _events(layout) if layout.history else _orders(layout)
    keys = tuple(
        replace(layout.column(name).bare, primary_key=True, nullable=False) for name in layout.keys
    )
    return Table(
        name=companion_name(target), columns=(*keys, *kept), location=layout.table.location
    )


def _orders(layout: Layout) -> tuple[Column, ...]:
    first = (FIRST,) if layout.sets_part else ()
    each = tuple(of_column(name) for name in layout.values) if layout.ignore_null_updates else ()
    return (SEQ, GONE, *first, *each)


def _events(layout: Layout) -> tuple[Column, ...]:
    soft = (layout.soft_column,) if layout.soft_column else ()
    values = (layout.column(name).bare for name in (*layout.values, *soft))
    at = Column(name=AT, type=layout.history_type, primary_key=True)
    return (at, ORDER, DELETED, ROW, *values)


def _short(name: str) -> str:
    if len(name.encode()) <= _LONGEST:
        return name
    digest = sha256(name.encode()).hexdigest()[:_DIGEST]
    kept = name.encode()[: _LONGEST - _DIGEST - 1].decode(errors="ignore")
    return f"{kept}_{digest}"
