from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ematix_flow._base.clock import iso
from ematix_flow._base.files import private_directory, write_whole
from ematix_flow._base.ids import uuid7
from ematix_flow._base.suggest import nearest

INSTANTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


@given(INSTANTS, st.timedeltas(timedelta(milliseconds=1), timedelta(days=9999)))
def test_ids_sort_by_time(now, later):
    first, second = uuid7(now), uuid7(now + later)
    assert str(first) < str(second)
    assert first.version == 7
    assert first.variant == "specified in RFC 4122"


def test_ids_of_one_instant_differ():
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert len({uuid7(now) for _ in range(1000)}) == 1000


def test_instants_are_written_in_utc():
    assert iso(datetime(2026, 3, 1, 12, tzinfo=UTC)) == "2026-03-01T12:00:00.000000Z"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("lod_orders", "load_orders"), ("LOAD_ORDERS", "load_orders"), ("zz", None)],
)
def test_did_you_mean(name, expected):
    assert nearest(name, ["load_orders", "revenue"]) == expected


def test_a_file_is_written_whole_and_privately(tmp_path):
    file = tmp_path / "deep" / "token"
    write_whole(file, b"one", mode=0o600)
    write_whole(file, b"two", mode=0o600)
    assert file.read_bytes() == b"two"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in file.parent.iterdir()] == ["token"]


@pytest.mark.proves("nothing-half-written")
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    file = tmp_path / "state"
    write_whole(file, b"old")
    with pytest.raises(TypeError):
        write_whole(file, "not bytes")
    assert file.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["state"]


def test_a_private_directory_is_for_its_owner(tmp_path):
    assert private_directory(tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
