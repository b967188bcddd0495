"""The pure parts of benchmarks/load.py: medians, the page, the plot, the choice, the memory."""

import os
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from benchmarks.loads import orders
from benchmarks.loads.contestants import CONTESTANTS, Load, chosen
from benchmarks.loads.memory import PeakMemory, proportional, tree
from benchmarks.loads.plot import draw
from benchmarks.loads.report import goals, is_like, losses, page, summary
from benchmarks.loads.results import Measurement, Results, load_results

APPEND = Load("postgres", "append")
# The memory of others is read from /proc, which only Linux has.
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
BY_NAME = {each.name: each for each in CONTESTANTS}


def results(**seconds):
    """Return results of an append into PostgreSQL: a contestant's name to its repeats."""
    found = Results(machine="2 cores", rows=1000, server={"fsync": "off"})
    for name, repeats in seconds.items():
        for each in repeats:
            found.add(measured(name.replace("_", "-"), each))
    return found


def measured(name, seconds, load=APPEND, peak=100 * 2**20):
    return Measurement(
        contestant=name, target=load.target, mode=load.mode, seconds=seconds, peak_bytes=peak
    )


def test_a_score_is_the_median_of_the_repeats():
    score = results(flow=[3.0, 1.0, 8.0]).score("flow", APPEND)
    assert (score.repeats, score.seconds, score.fastest, score.slowest) == (3, 3.0, 1.0, 8.0)


def test_what_was_not_measured_has_no_score():
    assert results(flow=[1.0]).score("dlt", APPEND) is None


def test_a_failure_takes_the_earlier_times_with_it():
    found = results(dlt=[1.0, 2.0], flow=[1.0])
    found.fail("dlt", APPEND, "wrong: 3 rows instead of 4")
    assert found.score("dlt", APPEND) is None
    assert found.count("flow", APPEND) == 1
    assert "`dlt:postgres:append`" in page(found, "load.svg")
    assert "3 rows instead of 4" in summary(found)


def test_results_are_read_as_they_were_written(tmp_path):
    found = results(flow=[1.5, 2.5])
    found.memory = {"rows": 5, "driver": "2g", "seconds": 2.0, "peak_bytes": 2**30}
    found.save(tmp_path / "deep" / "load.json")
    assert load_results(tmp_path / "deep" / "load.json") == found


def test_the_table_has_rates_and_ratios():
    text = page(results(flow=[2.0], spark=[5.0]), "load.svg")
    assert "| **ematix_flow** | 2.00 | 2.00 | 2.00 | 500 | 100 | 1.00 |" in text
    assert "| Spark JDBC | 5.00 | 5.00 | 5.00 | 200 | 100 | 2.50 |" in text
    assert "fsync off" in text


def test_goals_are_told_as_met_or_missed():
    lines = list(goals(results(flow=[2.0], flow_spark=[1.0], spark=[4.0])))
    assert "2.5 times as fast as Spark JDBC | 2.0, missed | 4.0, met |  |  |" in lines[-1]
    assert list(goals(results(flow=[2.0]))) == []


def test_every_faster_peer_is_told():
    told = "\n".join(losses(results(flow=[4.0], dlt=[2.0], spark=[5.0])))
    assert "dlt is faster (2.0 times)" in told
    assert "Spark" not in told


def test_a_peer_that_needs_less_memory_is_told():
    found = results(flow=[1.0])
    found.add(measured("dlt", 2.0, peak=25 * 2**20))
    assert list(losses(found)) == [
        "- PostgreSQL, append, ematix_flow: dlt needs less memory (4.0 times)."
    ]


def test_without_a_loss_the_page_says_so():
    text = page(results(flow=[1.0], dlt=[2.0]), "load.svg")
    assert "Nowhere, in what was measured." in text


@pytest.mark.parametrize(
    ("our", "peer", "like"),
    [
        ("flow", "spark", True),
        ("flow", "spark-warm", False),
        ("flow-spark-warm", "spark-warm", True),
        ("flow-spark-warm", "dlt", True),
        ("flow", "ematix-flow-1-in-database", False),
        ("flow-in-database", "ematix-flow-1-in-database", True),
        ("flow-in-database", "dlt", True),
    ],
)
def test_only_like_is_held_against_like(our, peer, like):
    assert is_like(BY_NAME[our], BY_NAME[peer]) is like


def test_the_plot_has_a_bar_per_score_on_one_scale():
    found = results(flow=[1.0], spark=[4.0])
    found.add(measured("dlt", 2.0, Load("duckdb", "merge")))
    drawing = ET.fromstring(draw(found))
    bars = drawing.findall("{*}rect")
    assert [bar.get("class") for bar in bars] == ["ours", "peer", "peer"]
    widths = [float(bar.get("width")) for bar in bars]
    assert widths == pytest.approx([widths[1] / 4, widths[1], widths[1] / 2])


def test_nothing_measured_is_still_a_plot():
    assert ET.fromstring(draw(results())).findall("{*}rect") == []


def test_only_picks_by_name_target_and_mode():
    assert chosen(["dlt:duckdb:scd2"]) == [(BY_NAME["dlt"], Load("duckdb", "scd2"))]
    assert {load.mode for _, load in chosen(["dlt:merge"])} == {"merge"}
    assert {each.name for each, _ in chosen([])} == set(BY_NAME)
    with pytest.raises(SystemExit, match="there are dlt"):
        chosen(["spork"])


def test_the_second_day_changes_a_tenth_and_adds_a_thousandth():
    assert orders.new_rows(1_000_000) == 1000
    assert any(
        "generate_series(1, 1001000::bigint)" in each for each in orders.second_day("t", 10**6)
    )
    assert len(orders.COLUMNS) == 12


@linux
def test_memory_of_a_tree_holds_its_children():
    hoarder = "x = bytearray(64 * 2**20); print('full', flush=True); input()"
    shell = [
        sys.executable,
        "-c",
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {hoarder!r}])",
    ]
    with subprocess.Popen(
        shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "full\n"
        with PeakMemory([process.pid]) as memory:
            assert len(tree([process.pid])) == 2
        process.communicate("\n")
    assert memory.peak > 64 * 2**20
    assert os.getpid() in tree([os.getpid()])


@linux
def test_a_process_that_is_gone_has_no_memory():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert proportional(process.pid) == 0
