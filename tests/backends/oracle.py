"""Rows and history from events (key, at, deleted, tie, values): what every backend must equal."""

from itertools import groupby


def in_order(events):
    """The events of each key, the last one last: a deletion after others of its moment."""
    ordered = sorted(events, key=lambda event: event[:4])
    return ((key, list(same)) for key, same in groupby(ordered, key=lambda event: event[0]))


def latest(events, update=None, *, ignore_null=False):
    """The row of each living key, once every event was applied in order."""
    rows = {}
    for key, of_key in in_order(events):
        for _, _, deleted, _, values in of_key:
            there = rows.pop(key, None)
            said = {n: v for n, v in values.items() if v is not None or not ignore_null}
            if there is not None and update is not None:
                said = {name: value for name, value in said.items() if name in update}
            if not deleted:
                rows[key] = {**dict.fromkeys(values), **(there or {}), **said}
    return rows


def history(events, compare, ttl=None, now=None):
    """All versions, as (key, valid_from, valid_to, values)."""
    for key, of_key in in_order(events):
        version = None  # valid_from, when it was last heard of, values
        for at, moment in groupby(of_key, key=lambda event: event[1]):
            *_, (_, _, deleted, _, values) = moment
            expired = version and ttl is not None and version[1] + ttl < at
            if version and (expired or deleted or any(version[2][c] != values[c] for c in compare)):
                yield key, version[0], version[1] + ttl if expired else at, version[2]
                version = None
            if not deleted:
                version = (version[0] if version else at, at, values)
        if version:
            expired = ttl is not None and version[1] + ttl < now
            yield key, version[0], version[1] + ttl if expired else None, version[2]
