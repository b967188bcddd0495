"""merge, scd1 and scd2 on every database, from the driver on pre-staged rows."""

from dataclasses import replace

import pytest

from ematix_flow.errors import ContractError, NeedsConsent
from ematix_flow.spec.modes import HandleDeletes, Mode, OnDuplicateKeys
from ematix_flow.spec.pipeline import HistoryColumns
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import Boolean, String, Text, TimestampTZ
from tests.backends.mode_bench import DAY, HERE, NOW, TABLE, event, moment, row


def counts(done):
    return {name: count for name, count in done.rows.to_json().items() if count and name != "read"}


@pytest.mark.proves("merge-changes", "merge-null-safe", "exact-counts", "merge-idempotent")
@pytest.mark.parametrize("mode", [Mode.MERGE, Mode.SCD1])
def test_new_changed_and_unchanged(bench, mode):
    table = bench(mode)
    assert counts(table.load([row("1", x="one"), row("2", x="two"), row("3")])) == {"inserted": 3}
    later = table.load(
        [row("1", x="one"), row("2", x="TWO"), row("3", x=""), row("4")], now=NOW + DAY
    )
    assert counts(later) == {"inserted": 1, "updated": 2, "unchanged": 1}
    assert table.rows("a", "x", "_batch_id") == [
        ("1", "one", "r1"),
        ("2", "TWO", "r2"),
        ("3", "", "r2"),
        ("4", None, "r2"),
    ]
    again = table.load([row("1", x="one"), row("2", x="TWO")], now=NOW + 2 * DAY)
    assert counts(again) == {"unchanged": 2}


MERGES = {
    "merge": {"mode": Mode.MERGE},
    "scd1": {"mode": Mode.SCD1},
    "ordered": {"mode": Mode.SCD1, "sequence_by": ("at",)},
}
HISTORIES = {
    "snapshots": {"mode": Mode.SCD2},
    "events": {"mode": Mode.SCD2, "event_timestamp_column": "at"},
}


def each_of(*options):
    """A test for each of these ways to load."""
    named = {name: each for group in options for name, each in group.items()}
    return pytest.mark.parametrize("options", named.values(), ids=named)


def loaded(table):
    """When each key was loaded, and by which run."""
    found = table.rows("a", "_loaded_at", "_batch_id")
    return {key: (moment(at), run) for key, at, run in found}


@pytest.mark.proves("merge-changes")
@each_of(MERGES)
def test_only_what_changed_says_that_it_was_loaded_again(bench, options):
    table = bench(**options)
    table.load([event("same", 1, "x"), event("other", 1, "x"), event("absent", 1)])
    later = [event("same", 2, "x"), event("other", 2, "y"), event("new", 2)]
    table.load(later, now=NOW + DAY)
    first, second = (NOW, "r1"), (NOW + DAY, "r2")
    assert loaded(table) == {"same": first, "other": second, "absent": first, "new": second}


@pytest.mark.proves("merge-null-safe", "exact-counts")
@each_of(MERGES)
def test_a_value_may_become_null_and_null_is_null(bench, options):
    table = bench(**options)
    table.load([event("both", 1, "v", n=1), event("one", 1, "v", n=1), event("none", 1)])
    gone = [event("both", 2), event("one", 2, "v"), event("none", 2)]
    assert counts(table.load(gone)) == {"updated": 2, "unchanged": 1}
    assert table.rows("a", "x", "n") == [
        ("both", None, None),
        ("none", None, None),
        ("one", "v", None),
    ]
    assert counts(table.load(gone)) == {"unchanged": 3}


SNAPSHOTS = {
    "soft": {"mode": Mode.MERGE, "handle_deletes": HandleDeletes.SOFT},
    "ordered hard": {**MERGES["ordered"], "handle_deletes": HandleDeletes.HARD},
}


@pytest.mark.proves("merge-idempotent")
@each_of({"merge": MERGES["merge"], "ordered": MERGES["ordered"]}, SNAPSHOTS, HISTORIES)
def test_running_again_leaves_every_row_as_it_was(bench, options):
    table = bench(**options)
    table.load([event("1", 1, "p"), event("2", 1), event("3", 1)])
    rows = [event("1", 2, "q"), event("2", 2)]
    table.load(rows, now=NOW + DAY)

    def held():
        return table.rows(*table.layout.table.column_names), table.remembered()

    before = held()
    for days in (2, 3):
        assert counts(table.load(rows, now=NOW + days * DAY)) == {"unchanged": 2}
    assert held() == before


@pytest.mark.proves("keys-by-column")
@each_of(MERGES, HISTORIES)
def test_keys_are_compared_by_column(bench, options):
    def said(a, b, days, x):
        return {**event(a, days, x), "b": b}

    table = bench(**options)
    first = [said("a", "bc", 1, "p"), said("ab", "c", 1, "q"), said("", "abc", 1, "r")]
    assert counts(table.load(first)) == {"inserted": 3}
    table.load([said("ab", "c", 2, "s")], now=NOW + DAY)
    is_history = options["mode"] is Mode.SCD2
    where = "WHERE is_current" if is_history else ""
    current = [("", "abc", "r"), ("a", "bc", "p"), ("ab", "c", "s")]
    assert table.rows("a", "b", "x", where=where) == current
    assert len(table.rows("a")) == (4 if is_history else 3)


@pytest.mark.proves("mysql-exact-text")
def test_case_and_blanks_are_changes_and_other_keys(bench):
    table = bench(Mode.MERGE)
    table.load([row("k", x="a"), row("k ", x="b"), row("K", x="c")])
    assert counts(table.load([row("k", x="A"), row("k ", x="b "), row("K", x="c")])) == {
        "updated": 2,
        "unchanged": 1,
    }
    assert table.rows("a", "x") == [("K", "c"), ("k ", "b "), ("k", "A")]


@pytest.mark.proves("update-columns")
def test_update_columns_limit_what_is_compared_and_set(bench):
    table = bench(Mode.MERGE, update_columns=("n",))
    table.load([row("1", x="old", n=1), row("2", x="old", n=1)])
    done = table.load([row("1", x="new", n=2), row("2", x="new", n=1)])
    assert counts(done) == {"updated": 1, "unchanged": 1}
    assert table.rows("a", "x", "n") == [("1", "old", 2), ("2", "old", 1)]


@pytest.mark.proves("update-columns")
def test_null_does_not_overwrite_where_it_says_nothing(bench):
    table = bench(Mode.MERGE, ignore_null_updates=True)
    table.load([row("1", x="kept", n=1)])
    assert counts(table.load([row("1", n=2)])) == {"updated": 1}
    assert counts(table.load([row("1")])) == {"unchanged": 1}
    assert table.rows("a", "x", "n") == [("1", "kept", 2)]


@pytest.mark.proves("hard-deletes", "exact-counts")
def test_a_snapshot_deletes_what_it_lacks(bench):
    table = bench(Mode.MERGE, handle_deletes=HandleDeletes.HARD)
    table.load([row(str(n)) for n in range(4)])
    done = table.load([row("0"), row("1"), row("2", x="!")])
    assert counts(done) == {"deleted": 1, "updated": 1, "unchanged": 2}
    assert [a for (a,) in table.rows("a")] == ["0", "1", "2"]


@pytest.mark.proves("delete-guard")
def test_a_snapshot_that_came_short_needs_consent(bench):
    table = bench(Mode.MERGE, handle_deletes=HandleDeletes.HARD)
    table.load([row(str(n)) for n in range(4)])
    for rows in ([], [row("0")]):
        with pytest.raises(NeedsConsent, match=r"of the 4 keys of t are missing.*max_delete"):
            table.load(rows)
    assert len(table.rows("a")) == 4
    assert counts(table.load([row("0")], consent=True)) == {"deleted": 3, "unchanged": 1}


HARD, SOFT = ({"handle_deletes": each} for each in (HandleDeletes.HARD, HandleDeletes.SOFT))
GUARDED = {
    f"{name} {'hard' if deletes is HARD else 'soft'}": {**options, **deletes}
    for name, options in {"merge": {"mode": Mode.MERGE}, **HISTORIES}.items()
    for deletes in (HARD, SOFT)
}


def living(table):
    """The keys that are there: current, and not marked as deleted."""
    layout = table.layout
    names = [layout.history.is_current] if layout.history else []
    marks = [layout.soft_column] if layout.soft_column else []
    return [
        key
        for key, *told in table.rows("a", *names, *marks)
        if all(told[: len(names)]) and not any(told[len(names) :])
    ]


@pytest.mark.proves("delete-guard")
@each_of(GUARDED, {"a quarter": {**GUARDED["merge hard"], "max_delete_fraction": 0.25}})
def test_exactly_as_many_keys_may_go_as_the_fraction_says(bench, options):
    table, going = bench(**options), 1 if "max_delete_fraction" in options else 2
    rows = [event(str(n), 0) for n in range(4)]
    table.load(rows)
    too_few, enough = rows[going + 1 :], rows[going:]
    with pytest.raises(NeedsConsent, match=f"{going + 1} of the 4 keys of t are missing"):
        table.load(too_few, now=NOW + DAY)
    assert living(table) == ["0", "1", "2", "3"]
    table.load(enough, now=NOW + DAY)
    assert living(table) == [each["a"] for each in enough]
    # What is gone already does not count among those of which so many may go.
    with pytest.raises(NeedsConsent, match=f"{4 - going} of the {4 - going} keys"):
        table.load([], now=NOW + 2 * DAY)


@pytest.mark.proves("delete-guard")
@pytest.mark.parametrize("fraction", [0.0, 1.0])
def test_no_key_may_go_or_all_of_them(bench, fraction):
    table = bench(Mode.MERGE, handle_deletes=HandleDeletes.HARD, max_delete_fraction=fraction)
    table.load([row("1"), row("2")])
    if fraction:
        assert counts(table.load([])) == {"deleted": 2}
    else:
        with pytest.raises(NeedsConsent, match="1 of the 2 keys"):
            table.load([row("1")])


@pytest.mark.proves("delete-guard")
def test_a_fraction_is_meant_as_it_is_written(bench):
    """0.29 of 100 keys are 29, though 100 * 0.29 is a little less to a computer."""
    table = bench(Mode.MERGE, handle_deletes=HandleDeletes.HARD, max_delete_fraction=0.29)
    table.load([row(str(n)) for n in range(100)])
    assert counts(table.load([row(str(n)) for n in range(71)])) == {
        "deleted": 29,
        "unchanged": 71,
    }


@pytest.mark.proves("delete-guard")
def test_a_snapshot_with_rows_set_aside_deletes_nothing_without_consent(bench):
    table = bench(Mode.MERGE, handle_deletes=HandleDeletes.HARD)
    table.load([row(str(n)) for n in range(4)])
    rest = [row("0"), row("1"), row("2")]
    lost = r"1 keys of t are missing.*1 of its rows were set aside"
    with pytest.raises(NeedsConsent, match=lost):
        table.load(rest, quarantined=1)
    assert len(table.rows("a")) == 4
    assert counts(table.load(rest, quarantined=1, consent=True))["deleted"] == 1


@pytest.mark.proves("soft-deletes", "exact-counts")
def test_a_soft_deletion_marks_the_row_until_it_is_back(bench):
    table = bench(Mode.MERGE, handle_deletes=HandleDeletes.SOFT)
    table.load([row("1"), row("2"), row("3")])
    assert counts(table.load([row("1"), row("2")])) == {"deleted": 1, "unchanged": 2}
    assert counts(table.load([row("1"), row("2")])) == {"unchanged": 2}
    assert [bool(mark) for _, mark in table.rows("a", "_is_deleted")] == [False, False, True]
    assert counts(table.load([row("1"), row("2"), row("3")])) == {"updated": 1, "unchanged": 2}
    assert [bool(mark) for _, mark in table.rows("a", "_is_deleted")] == [False, False, False]


@pytest.mark.proves("apply-as-deletes", "exact-counts")
def test_rows_may_say_that_they_delete(bench):
    table = bench(Mode.MERGE, apply_as_deletes="op = 'D'")
    table.load([row("1", deleted=False), row("2", deleted=False)])
    done = table.load([row("1", deleted=True), row("9", deleted=True), row("3", deleted=False)])
    assert counts(done) == {"deleted": 1, "inserted": 1, "unchanged": 1}
    assert [a for (a,) in table.rows("a")] == ["2", "3"]


@pytest.mark.proves("duplicates-error")
@pytest.mark.parametrize("mode", [Mode.MERGE, Mode.SCD2])
def test_a_key_that_comes_twice_is_refused_and_named(bench, mode):
    table = bench(mode)
    rows = [row(str(n), "k") for n in range(7)] * 2
    with pytest.raises(ContractError, match="7 keys come more than once") as refused:
        table.load([*rows, row("fine")])
    assert "a='0', b='k': 2 rows" in str(refused.value.details)
    assert "... and 2 more" in str(refused.value.details)
    assert table.rows("a") == []


@pytest.mark.proves("duplicates-last")
@pytest.mark.parametrize("mode", [Mode.MERGE, Mode.SCD1])
def test_of_a_key_that_comes_twice_the_last_in_order_counts(bench, mode):
    table = bench(mode, sequence_by=("at",), on_duplicate_keys=OnDuplicateKeys.LAST)
    table.load([event("k", 3, "c"), event("k", 9, "z"), event("k", 1, "a"), event("l", 1, "l")])
    assert table.rows("a", "x") == [("k", "z"), ("l", "l")]
    late = [event("k", 8, "late"), event("k", 8.5, "late too"), event("l", 2, "m")]
    assert counts(table.load(late)) == {"updated": 1, "unchanged": 2}
    assert table.rows("a", "x") == [("k", "z"), ("l", "m")]


@pytest.mark.proves("duplicates-error")
@each_of({"merge": MERGES["ordered"], "history": HISTORIES["events"]})
def test_an_order_may_be_asked_to_have_no_ties(bench, options):
    """With an order, rows of one key are events; two of one moment are what is refused."""
    table = bench(**options, on_duplicate_keys=OnDuplicateKeys.ERROR)
    table.load([event("k", 1, "a"), event("k", 2, "b")])
    before = table.rows("a", "x"), table.remembered()
    tied = [event("k", 3, "c"), event("k", 3, "d"), event("l", 3, "fine")]
    with pytest.raises(ContractError, match="1 key comes more than once") as refused:
        table.load(tied)
    assert "a='k', b='': 2 rows" in str(refused.value.details)
    assert (table.rows("a", "x"), table.remembered()) == before


@pytest.mark.proves("duplicates-quarantine")
def test_a_key_that_comes_twice_is_set_aside(bench, tmp_path):
    import pyarrow.parquet as pq

    table = bench(Mode.MERGE, on_duplicate_keys=OnDuplicateKeys.QUARANTINE)
    done = table.load([row("1", x="p"), row("1", x="q"), row("2")])
    assert counts(done) == {"inserted": 1, "quarantined": 2}
    assert [a for (a,) in table.rows("a")] == ["2"]
    aside = pq.read_table(tmp_path / "quarantine" / "r1-duplicates.parquet").to_pylist()
    assert sorted(each["x"] for each in aside) == ["p", "q"]
    assert counts(table.load([row("1", x="r")])) == {"inserted": 1}


@pytest.mark.proves("duplicates-quarantine", "hard-deletes")
@pytest.mark.parametrize("mode", [Mode.MERGE, Mode.SCD2])
def test_a_snapshot_does_not_lack_the_keys_that_are_set_aside(bench, mode):
    aside = {"on_duplicate_keys": OnDuplicateKeys.QUARANTINE}
    table = bench(mode, handle_deletes=HandleDeletes.HARD, **aside)
    table.load([row("1"), row("2"), row("3")])
    done = table.load([row("1"), row("2", x="p"), row("2", x="q"), row("3")], now=NOW + DAY)
    assert counts(done) == {"unchanged": 2, "quarantined": 2}


@pytest.mark.proves("update-columns")
@pytest.mark.parametrize("option", [{"ignore_null_updates": True}, {"update_columns": ("n",)}])
def test_rows_from_before_there_was_an_order_keep_what_they_should(bench, option):
    bench(Mode.SCD1).load([row("1", x="kept", n=1)])
    table = bench(Mode.SCD1, sequence_by=("at",), **option)
    said = None if "ignore_null_updates" in option else "no"
    table.load([row("1", x=said, n=2, seq="5")], run_id="later")
    assert table.rows("a", "x", "n") == [("1", "kept", 2)]


# History ------------------------------------------------------------------------------------------

VERSIONS = ("a", "x", "valid_from", "valid_to", "is_current")


def versions(table):
    found = table.rows(*VERSIONS)
    return sorted(
        ((a, x, moment(start), moment(end), bool(now)) for a, x, start, end, now in found),
        key=lambda each: (each[0], each[2]),
    )


@pytest.mark.proves("scd2-first-load", "scd2-change", "scd2-null-is-change", "exact-counts")
def test_history_from_snapshots(bench):
    table = bench(Mode.SCD2)
    first, second, third = NOW, NOW + DAY, NOW + 2 * DAY
    assert counts(table.load([row("1", x="p"), row("2")])) == {"inserted": 2}
    done = table.load([row("1", x="q"), row("2")], now=second)
    assert counts(done) == {"inserted": 1, "closed": 1, "unchanged": 1}
    assert counts(table.load([row("1"), row("2", x="")], now=third)) == {"inserted": 2, "closed": 2}
    assert versions(table) == [
        ("1", "p", first, second, False),
        ("1", "q", second, third, False),
        ("1", None, third, None, True),
        ("2", None, first, third, False),
        ("2", "", third, None, True),
    ]


@pytest.mark.proves("scd2-reopen", "scd2-delete-policy")
def test_a_key_that_went_and_came_back_unchanged_is_a_new_version(bench):
    table = bench(Mode.SCD2, handle_deletes=HandleDeletes.HARD)
    table.load([row("1"), row("2"), row("3")])
    assert counts(table.load([row("1"), row("2")], now=NOW + DAY)) == {"closed": 1, "unchanged": 2}
    back = table.load([row("1"), row("2"), row("3")], now=NOW + 2 * DAY)
    assert counts(back) == {"inserted": 1, "unchanged": 2}
    assert versions(table)[2:] == [
        ("3", None, NOW, NOW + DAY, False),
        ("3", None, NOW + 2 * DAY, None, True),
    ]


@pytest.mark.proves("scd2-delete-policy", "exact-counts")
@each_of(HISTORIES)
def test_a_key_that_a_snapshot_lacks_may_stay_as_it_is(bench, options):
    table = bench(**options, handle_deletes=HandleDeletes.IGNORE)
    table.load([event("1", 1, "p"), event("2", 1, "q")])
    assert counts(table.load([event("1", 1, "p")], now=NOW + DAY)) == {"unchanged": 1}
    assert counts(table.load([], now=NOW + 2 * DAY)) == {}
    assert [(a, end, now) for a, _, _, end, now in versions(table)] == [
        ("1", None, True),
        ("2", None, True),
    ]


NAMED = HistoryColumns(valid_from="since", valid_to="until", is_current="it is so")


@pytest.mark.proves("scd2-names")
@each_of(HISTORIES)
def test_the_columns_of_history_may_be_called_otherwise(bench, options):
    table = bench(**options, history_columns=NAMED, handle_deletes=HandleDeletes.HARD)
    table.load([event("1", 0, "p"), event("2", 0, "q"), event("3", 0)])
    table.load([event("1", 1, "P"), event("3", 0)], now=NOW + DAY)
    found = table.rows("a", "x", "since", "until", "it is so")
    shown = [(a, x, moment(start), moment(end), bool(now)) for a, x, start, end, now in found]
    assert sorted(shown, key=lambda each: each[:3:2]) == [
        ("1", "p", NOW, NOW + DAY, False),
        ("1", "P", NOW + DAY, None, True),
        ("2", "q", NOW, NOW + DAY, False),
        ("3", None, NOW, None, True),
    ]
    with table.target.open() as session:
        columns = {each.name for each in session.columns(table.table.name)}
    assert columns.isdisjoint({"valid_from", "valid_to", "is_current"})
    assert {"since", "until", "it is so"} <= columns


@pytest.mark.proves("scd2-delete-policy")
def test_a_soft_deletion_is_a_last_version_that_says_so(bench):
    table = bench(Mode.SCD2, handle_deletes=HandleDeletes.SOFT)
    table.load([row("1"), row("2"), row("3", x="v")])
    for days in (1, 2):
        table.load([row("1"), row("2")], now=NOW + days * DAY)
    gone = table.rows("a", "x", "is_current", "_is_deleted", where="WHERE a = '3'")
    assert [(a, x, bool(now), bool(mark)) for a, x, now, mark in gone] == [
        ("3", "v", False, False),
        ("3", "v", True, True),
    ]


@pytest.mark.proves("compare-columns")
def test_other_columns_show_their_latest_value_without_a_version(bench):
    table = bench(Mode.SCD2, compare_columns=("x",))
    table.load([row("1", x="p", n=1)])
    assert counts(table.load([row("1", x="p", n=2)], now=NOW + DAY)) == {"updated": 1}
    assert table.rows("a", "x", "n") == [("1", "p", 2)]


@pytest.mark.proves("scd2-change")
def test_a_clock_that_went_back_does_not_turn_history_round(bench):
    table = bench(Mode.SCD2)
    table.load([row("1", x="p")])
    table.load([row("1", x="q")], now=NOW - DAY)
    (_, _, start, end, _), (_, _, again, _, current) = versions(table)
    assert start < end == again
    assert current


@pytest.mark.proves("ttl", "exact-counts")
def test_history_runs_out_of_time(bench):
    table = bench(Mode.SCD2, ttl=2 * DAY)
    table.load([row("1"), row("2")])
    done = table.load([row("2", x="new")], now=NOW + 3 * DAY)
    assert counts(done) == {"inserted": 1, "closed": 2}
    over = versions(table)
    assert over[0] == ("1", None, NOW, NOW + 2 * DAY, False)
    for _ in range(2):  # safe to run again: the same row says nothing new
        assert counts(table.load([row("1")], now=NOW + 3 * DAY)) == {"unchanged": 1}
    assert versions(table) == over
    assert counts(table.load([row("1", x="new")], now=NOW + 4 * DAY)) == {"inserted": 1}


def ordered(bench, **options):
    return bench(Mode.SCD2, event_timestamp_column="at", apply_as_deletes="op = 'D'", **options)


@pytest.mark.proves("late-spliced", "collapsed-remembered")
def test_a_late_event_is_spliced_into_history(bench):
    table = ordered(bench)
    for each in (event("k", 1, "x"), event("k", 3, "x"), event("k", 2, "y")):
        table.load([each])
    at = [NOW + n * DAY for n in range(4)]
    assert versions(table) == [
        ("k", "x", at[1], at[2], False),
        ("k", "y", at[2], at[3], False),
        ("k", "x", at[3], None, True),
    ]
    table.load([event("k", 2.5, "y", deleted=True)])
    assert versions(table)[1] == ("k", "y", at[2], NOW + 2.5 * DAY, False)
    assert len(versions(table)) == 3


@pytest.mark.proves("scd2-reopen", "scd2-delete-policy")
def test_a_snapshot_with_event_times_closes_and_reopens(bench):
    table = ordered(bench, handle_deletes=HandleDeletes.HARD)
    rows = [event(a, -5, "x") for a in "abc"]
    table.load(rows)
    assert counts(table.load(rows[:2], now=NOW + DAY)) == {"closed": 1, "unchanged": 2}
    assert counts(table.load(rows[:2], now=NOW + 2 * DAY)) == {"unchanged": 2}
    back = table.load(rows, now=NOW + 3 * DAY)
    assert back.rows.inserted == 1
    assert versions(table)[2:] == [
        ("c", "x", NOW - 5 * DAY, NOW + DAY, False),
        ("c", "x", NOW + 3 * DAY, None, True),
    ]
    table.load(rows, now=NOW + 4 * DAY)
    assert len(versions(table)) == 4


@pytest.mark.proves("ttl")
def test_a_snapshot_with_event_times_does_not_revive_what_ran_out_of_time(bench):
    table = ordered(bench, handle_deletes=HandleDeletes.HARD, ttl=3 * DAY)
    rows = [event("old", -5, "x"), event("young", -1, "x")]
    table.load(rows)
    assert counts(table.load(rows, now=NOW + DAY)) == {"unchanged": 2}
    assert versions(table)[0] == ("old", "x", NOW - 5 * DAY, NOW - 2 * DAY, False)


@pytest.mark.proves("scd2-reopen")
def test_a_key_in_a_snapshot_lives_whatever_was_remembered_of_it(bench):
    table = ordered(bench, handle_deletes=HandleDeletes.HARD)
    others = [event("b", -9), event("c", -9)]
    table.load([event("a", -9, "x"), *others])
    table.load(others, now=NOW + DAY)
    table.load([event("a", -9, deleted=True), *others], now=NOW + 2 * DAY)
    table.load([event("a", -8, "y"), *others], now=NOW + 3 * DAY)
    assert versions(table)[:2] == [
        ("a", "y", NOW - 8 * DAY, NOW + DAY, False),
        ("a", "y", NOW + 3 * DAY, None, True),
    ]


@pytest.mark.parametrize("mode", [Mode.MERGE, Mode.SCD2])
def test_a_table_may_have_a_natural_key_alone(bench, mode):
    columns = tuple(replace(c, primary_key=False, natural_key=c.primary_key) for c in TABLE.columns)
    table = bench(mode, table=replace(TABLE, columns=columns))
    assert table.load([row("1", x="a"), row("2", x="a")]).rows.inserted == 2
    done = table.load([row("1", x="a"), row("2", x="b")], now=NOW + DAY)
    assert done.rows.unchanged == 1


@pytest.mark.proves("preview-dry-run")
def test_a_dry_run_counts_and_changes_nothing(bench):
    table = bench(Mode.MERGE)
    table.load([row("1", x="p")])
    done = table.load([row("1", x="q"), row("2")], dry=True)
    assert counts(done) == {"inserted": 1, "updated": 1}
    assert table.rows("a", "x") == [("1", "p")]
    assert counts(table.load([row("1", x="q"), row("2")])) == {"inserted": 1, "updated": 1}


@pytest.mark.proves("lookback")
def test_rows_that_are_read_again_are_not_added_again(bench):
    unkeyed = Table(name=TableName(name="t"), location=HERE, columns=TABLE.columns[2:])
    table = bench(Mode.APPEND, table=unkeyed)
    table.layout = type(table.layout)(
        table=table.layout.table,
        mode=Mode.APPEND,
        given=("x", "n"),
        known_rows=True,
        audit=table.layout.audit,
    )
    table.load([{"x": "a", "n": 1}, {"x": "a", "n": 1}, {"x": None, "n": None}])
    again = [{"x": "a", "n": 1}] * 3 + [{"x": None, "n": None}, {"x": "A", "n": 1}]
    assert counts(table.load(again)) == {"inserted": 2, "unchanged": 3}
    assert len(table.rows("x")) == 5


@pytest.mark.proves("soft-deletes")
def test_a_declared_mark_is_used(bench):
    marked = Table(
        name=TableName(name="t"),
        location=HERE,
        columns=(*TABLE.columns, Column(name="deleted_at", type=TimestampTZ(), nullable=True)),
    )
    table = bench(Mode.MERGE, table=marked, handle_deletes=HandleDeletes.SOFT)
    table.load([row("1"), row("2"), row("3")])
    table.load([row("1"), row("2")], now=NOW + DAY)
    assert [moment(at) for _, at in table.rows("a", "deleted_at")] == [None, None, NOW + DAY]
    assert not any(isinstance(each.type, Boolean) for each in table.layout.table.columns)


ODD = ('a "b" `c`', "select", "n", "E", "x.y", "o", "é; --", "w" * 60)


@pytest.mark.proves("hostile-names")
@pytest.mark.parametrize(
    "options",
    [
        {"mode": Mode.APPEND},
        {"mode": Mode.TRUNCATE},
        {"mode": Mode.MERGE, "handle_deletes": HandleDeletes.SOFT},
        {"mode": Mode.SCD1, "sequence_by": ("at",), "apply_as_deletes": "op = 'D'"},
        {"mode": Mode.SCD1, "sequence_by": ("at",), "ignore_null_updates": True},
        {"mode": Mode.SCD2, "on_duplicate_keys": OnDuplicateKeys.QUARANTINE},
        {"mode": Mode.SCD2, "event_timestamp_column": "at", "ttl": 90 * DAY},
    ],
    ids=lambda options: "-".join(str(value) for value in options.values())[:40],
)
def test_names_may_be_anything(bench, options):
    first, *others = ODD
    key = Column(name=first, type=String(9), primary_key=True)
    odd = Table(
        name=TableName(name='T "x".y'),
        location=HERE,
        columns=(key, *(Column(name=name, type=Text(), nullable=True) for name in others)),
    )
    table = bench(**options, table=odd)

    def said(key, value, days):
        at = NOW + days * DAY
        helpers = {"_flow_at": at, "_flow_seq": str(at), "_flow_deleted": False}
        return {first: key, **dict.fromkeys(others, value), **helpers}

    table.load([said("k", "old", 1), said("l", "old", 1)])
    if options["mode"] is Mode.APPEND:
        table.load([said("m", "new", 2)], now=NOW + 3 * DAY)
    else:
        table.load([said("k", "new", 2), said("l", "old", 1)], now=NOW + 3 * DAY)
    assert "new" in {value for row in table.rows(*others) for value in row}
