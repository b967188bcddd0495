"""Infinity in an incremental column: above it nothing ever comes, so it is refused."""

from __future__ import annotations

import pytest

from ematix_flow.errors import FlowError

PROJECT = """
@ematix.table
class Copied:
    id: BigInt

@ematix.pipeline(
    target=Copied, mode="append", incremental_column="seen",
    source_connection="db", target_connection="{place}",
)
def load():
    return "SELECT id, seen FROM given"
"""
COUNT = "SELECT count(*) FROM copied"


@pytest.mark.services
@pytest.mark.proves("strictly-after")
@pytest.mark.parametrize("kind", ["date", "timestamptz"])
@pytest.mark.parametrize("place", ["db", "out"], ids=["in its database", "carried"])
def test_infinity_is_refused_and_later_rows_are_read(places, place, kind):
    places.execute("db", "postgres", f"CREATE TABLE given (id bigint, seen {kind})")
    places.execute("db", "postgres", "INSERT INTO given VALUES (1, '2026-01-01'), (2, 'infinity')")
    connections = "".join(places.declare(name, "postgres") for name in ("db", "out"))
    places.project.declare(connections + PROJECT.format(place=place))
    environ = places.environ()
    environ.pop("EMATIX_FLOW_DIRECT_UP_TO")
    flow = places.project.flow(environ=environ)
    with pytest.raises(FlowError, match="infinity") as caught:
        flow.run("load")
    assert "NULL" not in str(caught.value)
    assert places.rows(place, COUNT) == [(0,)]
    places.execute("db", "postgres", "UPDATE given SET seen = '2026-01-02' WHERE id = 2")
    assert flow.run("load").rows.inserted == 2
    places.execute("db", "postgres", "INSERT INTO given VALUES (3, '2026-02-01')")
    assert flow.run("load").rows.inserted == 1
