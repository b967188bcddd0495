"""`flow backfill`, `replay`, `preview` and `dry-run` as a user types them."""

from __future__ import annotations

import json

import pytest

from ematix_flow._base.clock import SystemClock
from ematix_flow.cli.root import main
from ematix_flow.record.lease import pipeline_lease
from tests.backends.test_orders import INCREMENTAL, ORDERS, failing_at
from tests.backends.without_spark import loading_without_spark, numbered

SQLITE = '\n@ematix.connection\nclass out:\n    kind = "sqlite"\n    path = "out.db"\n'


@pytest.fixture
def flow(project, monkeypatch, capsys):
    """`flow ...` in this process, on a project that loads orders."""
    project.declare(ORDERS.format(out=SQLITE, options=INCREMENTAL))
    project.csv("orders", ("order_id", "customer"), [("1", "ada")])

    def run(*arguments, rows=None):
        monkeypatch.setattr("sys.argv", ["flow", *arguments, "--project", str(project.path)])
        with loading_without_spark(rows or numbered(*range(1, 8))), pytest.raises(SystemExit) as at:
            main()
        shown = capsys.readouterr()
        return at.value.code, shown.out, shown.err

    return run


RANGE = ("--from", "1", "--to", "7", "--chunk", "3")


def test_a_backfill_tells_its_chunks_and_sums_up(flow):
    code, out, err = flow("backfill", "load_orders", *RANGE)
    assert (code, out) == (0, "load_orders: succeeded, 2 chunks: 2 loaded\n")
    assert "chunk 1 of 2 (>= integer 1 and < integer 4): loaded, 3 rows read, 3 inserted\n" in err


@pytest.mark.proves("backfill")
def test_a_backfill_that_fails_says_why_and_goes_on_the_next_time(flow):
    code, out, err = flow("backfill", "load_orders", *RANGE, rows=failing_at(5))
    assert (code, out) == (1, "load_orders: failed, 2 chunks: 1 loaded, 1 failed\n")
    assert err.endswith("Error: the source is broken there\n")
    code, out, _ = flow("backfill", "load_orders", *RANGE, "--format", "json")
    told = json.loads(out)["backfill"]
    assert (code, told["resumed"], told["status"]) == (0, True, "succeeded")
    assert [each["status"] for each in told["chunks"]] == ["skipped", "loaded"]
    assert told["chunks"][1]["rows"]["inserted"] == 3


@pytest.mark.proves("backfill")
def test_a_backfill_goes_on_after_a_failure_where_asked(flow):
    assert flow("run", "load_orders", rows=numbered(*range(1, 20)))[0] == 0
    order = ("backfill", "load_orders", "--from", "1", "--to", "10", "--chunk", "3")
    code, out, err = flow(*order, rows=failing_at(5))
    assert (code, out) == (1, "load_orders: failed, 3 chunks: 1 loaded, 1 failed, 1 waiting\n")

    code, out, err = flow(*order, "--new", "--keep-going", rows=failing_at(5))
    assert (code, out) == (1, "load_orders: failed, 3 chunks: 2 loaded, 1 failed\n")
    told = [line for line in err.splitlines() if line.startswith("chunk ")]
    assert [line.partition("): ")[2].partition(",")[0] for line in told] == [
        "loaded",
        "failed: the source is broken there",
        "loaded",
    ]
    code, out, _ = flow(*order, "--keep-going", rows=numbered(*range(1, 20)))
    assert code == 0
    assert out.startswith("load_orders: succeeded, 3 chunks: 2 skipped, 1 loaded")


@pytest.mark.proves("one-lease")
def test_a_backfill_of_a_pipeline_that_runs_does_not_begin(flow, project):
    state = project.path / ".ematix-flow"
    with pipeline_lease(state / "leases", "load_orders", SystemClock()):
        code, out, err = flow("backfill", "load_orders", *RANGE)
    assert (code, out) == (1, "")
    assert "is already running" in err
    assert not (state / "backfills").exists()
    assert flow("backfill", "load_orders", *RANGE)[0] == 0


def test_a_backfill_where_nothing_can_be_written_says_so(flow, project):
    (project.path / ".ematix-flow").mkdir()
    (project.path / ".ematix-flow" / "backfills").write_text("a file, not a folder")
    code, out, err = flow("backfill", "load_orders", *RANGE)
    assert (code, out) == (2, "")
    assert err.startswith("Error: how far a backfill comes cannot be written to ")
    assert "make the project folder writable" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("backfill", "load_order", *RANGE), "did you mean 'load_orders'?"),
        (("backfill", "load_orders", "--from", "1"), "Missing option '--to'"),
        (("backfill", "load_orders", "--from", "7", "--to", "1"), "does not lie before"),
        (("replay", "nope"), "no run 'nope' on record here"),
        (("preview", "load_order"), "did you mean 'load_orders'?"),
        (("dry-run", "load_order"), "did you mean 'load_orders'?"),
        (("dryrun", "load_orders"), "Did you mean 'dry-run'?"),
    ],
)
def test_what_is_mistyped_is_a_usage_error(flow, arguments, told):
    code, out, err = flow(*arguments)
    assert (code, out) == (2, "")
    assert told in err


@pytest.mark.proves("preview-dry-run", "replay")
def test_a_dry_run_counts_and_a_replay_loads_nothing_twice(flow, project):
    code, out, _ = flow("dry-run", "load_orders")
    assert (code, out) == (
        0,
        "load_orders: dry run, 7 rows read, 7 inserted; nothing was changed\n",
    )
    assert not (project.path / "out.db").exists()
    assert flow("run", "load_orders")[0] == 0
    run_id = json.loads(flow("runs", "--format", "json")[1])["runs"][0]["run_id"]
    code, out, _ = flow("replay", run_id)
    assert code == 0
    assert "7 rows read, 0 inserted, 7 unchanged" in out
    assert flow("dry-run", "load_orders", "--format", "json")[1].count('"inserted": 0') == 2


def test_the_help_has_examples(flow):
    for command in ("backfill", "replay", "preview", "dry-run"):
        code, out, _ = flow(command, "--help")
        assert code == 0
        assert f"flow {command} " in out.partition("Examples:")[2]
