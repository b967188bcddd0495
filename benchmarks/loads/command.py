"""`python benchmarks/load.py`: the options, the rounds, the page."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.loads import orders
from benchmarks.loads.contest import Contest
from benchmarks.loads.contestants import CONTESTANTS, ROOT, Contestant, Load, chosen
from benchmarks.loads.narrow import pass_through
from benchmarks.loads.plot import draw
from benchmarks.loads.report import page, summary
from benchmarks.loads.results import Results, load_results
from benchmarks.loads.server import Server, leased
from benchmarks.loads.timing import Failed

RESULTS = ROOT / ".ematix-flow" / "benchmarks"
PAGE = ROOT / "docs" / "benchmarks" / "load.md"
PLOT = "load.svg"
DISTRIBUTIONS = ("dlt", "duckdb", "ematix-flow", "pyarrow", "pyspark")


def main(arguments: list[str] | None = None) -> int:
    """Measure what the options say; 1 when a contestant failed."""
    options = _parser().parse_args(arguments)
    file = options.json or RESULTS / f"load-{options.rows}.json"
    results = _start(file, options.rows, resume=options.resume or options.report)
    if not options.report:
        os.environ.update(_java())
        with leased() as server:
            results.server = server.settings()
            results.versions = _versions()
            _measure(server, results, options, file)
    print(summary(results))
    if options.page:
        options.page.write_text(page(results, PLOT))
        (options.page.parent / PLOT).write_text(draw(results))
        print(f"wrote {options.page}")
    return 1 if results.failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Loads into databases: ours, Spark JDBC, ematix-flow 1.0 and dlt."
    )
    add = parser.add_argument
    add("--rows", type=int, default=1_000_000, help="rows of the first day (1,000,000)")
    add("--repeat", type=int, default=5, help="how often each load is measured (5; 0 is never)")
    add(
        "--only",
        action="append",
        default=[],
        metavar="NAME[:TARGET][:MODE]",
        help="measure only these; may be given more than once: "
        + ", ".join(each.name for each in CONTESTANTS),
    )
    add("--resume", action="store_true", help="go on where an earlier run stopped")
    add("--report", action="store_true", help="measure nothing, only report what is on file")
    add("--memory", action="store_true", help="also: many rows through a driver of 2 GB")
    add("--memory-rows", type=int, default=20_000_000, help="rows of --memory (20,000,000)")
    add("--json", type=Path, help="where the measurements are kept")
    add("--page", type=Path, nargs="?", const=PAGE, help="write the page and its plot")
    add("--keep", action="store_true", help="leave the databases and the folder for a look")
    return parser


def _start(file: Path, rows: int, *, resume: bool) -> Results:
    if resume and file.exists():
        results = load_results(file)
        if results.rows != rows:
            raise SystemExit(f"{file} has {results.rows} rows a day; say --rows {results.rows}")
        print(f"{len(results.measurements)} measurements on file", file=sys.stderr)
        return results
    return Results(machine=describe_machine(), rows=rows)


def _measure(server: Server, results: Results, options: argparse.Namespace, file: Path) -> None:
    # Ended from outside, it still tidies up.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    server.drop_all()
    folder = Path(tempfile.mkdtemp(prefix="ematix-load-"))
    try:
        if options.repeat:
            contest = Contest(server, options.rows, folder)
            _rounds(contest, results, chosen(options.only), options.repeat, file)
        if options.memory:
            results.memory = pass_through(server, options.memory_rows, folder)
            results.save(file)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
            server.drop_all()


def _rounds(
    contest: Contest,
    results: Results,
    loads: list[tuple[Contestant, Load]],
    repeat: int,
    file: Path,
) -> None:
    """Measure in turns, so that a busy moment of the machine hits all alike."""
    print(f"making {results.rows:,} rows of {len(orders.COLUMNS)} columns ...", file=sys.stderr)
    contest.make_sources()
    if ours := [contestant for contestant, _ in loads if contestant.is_flow]:
        contest.prepare(ours[0])
    waiting = list(loads)
    for number in range(1, repeat + 1):
        for contestant, load in list(waiting):
            if results.count(contestant.name, load) >= number:
                continue
            told = f"round {number}: {contestant.name:<25} {load.target:<8} {load.mode:<6}"
            try:
                found = contest.measure(contestant, load)
            except Failed as failure:
                waiting.remove((contestant, load))
                results.fail(contestant.name, load, str(failure))
                print(f"{told} FAILED, see {file}", file=sys.stderr)
            else:
                results.add(found)
                megabytes = found.peak_bytes / 2**20
                print(f"{told} {found.seconds:7.2f} s {megabytes:6.0f} MiB", file=sys.stderr)
            results.save(file)


def describe_machine() -> str:
    """Return what the figures depend on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}"
    )


def _java() -> dict[str, str]:
    """Return what stock Spark needs: the Java and the JDBC driver that ours uses as well."""
    from ematix_flow.engine.host.java import find_java
    from ematix_flow.engine.jars.store import JarCache

    java = find_java()
    [jar] = JarCache().ensure(["postgres"], java=java)
    return {"JAVA_HOME": str(java.home), "LOAD_JDBC_JAR": str(jar)}


def _versions() -> dict[str, str]:
    """Return the versions of what takes part, asked in each environment that is there."""
    ask = (
        "import sys\nfrom importlib.metadata import version, PackageNotFoundError\n"
        "for name in sys.argv[1:]:\n"
        "    try: print(name, version(name))\n"
        "    except PackageNotFoundError: pass\n"
    )
    found: dict[str, str] = {}
    for contestant in CONTESTANTS:
        if contestant.environment in found or not contestant.python.exists():
            continue
        command = [str(contestant.python), "-c", ask, *DISTRIBUTIONS]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found[contestant.environment] = ", ".join(told.split("\n")[:-1])
    return found
