"""A run that loses its lease while it carries rows stops there, and writes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ematix_flow.errors import FenceLost
from ematix_flow.observe.events import BytesCarried
from ematix_flow.write.fence import fence_lost
from ematix_flow.write.holding import Holding
from tests.backends.test_direct import plain
from tests.backends.test_paths import execute

ROWS = 200_000


@pytest.mark.proves("lost-lease", "nothing-half-written")
@pytest.mark.services
@pytest.mark.parametrize("source", ["sqlite", "postgres"])
def test_whoever_lost_the_lease_carries_no_further(places, source, monkeypatch):
    numbers = {
        "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
        f"WHERE i < {ROWS}) INSERT INTO given SELECT i, 'some words', 1.5 FROM n",
        "postgres": f"INSERT INTO given SELECT i, 'some words', 1.5 "
        f"FROM generate_series(1, {ROWS}) AS n(i)",
    }
    kind = {"sqlite": "DOUBLE", "postgres": "DOUBLE PRECISION"}[source]
    create = f"CREATE TABLE given (id BIGINT, words TEXT, ratio {kind})"
    execute(places, source, [create, numbers[source]])
    flow = plain(places, source, "postgres", "SELECT id, words, ratio FROM given")
    seen: list[int] = []
    require = Holding.require

    def lost(holding: Holding) -> None:
        require(holding)
        if seen:
            raise fence_lost("load", None, 1)

    monkeypatch.setattr(Holding, "require", lost)

    def observe(event: object) -> None:
        if isinstance(event, BytesCarried):
            seen.append(event.bytes)

    with pytest.raises(FenceLost, match="another run of 'load' took over"):
        replace(flow, observer=observe).run("load")
    assert len(seen) == 1, "it was told, and went on"
    [(tables,)] = places.rows("out", "SELECT count(*) FROM pg_tables WHERE tablename = 'copied'")
    assert tables == 0 or places.rows("out", "SELECT count(*) FROM copied") == [(0,)]
