"""The page: tables, the goals, and where others are ahead; all of it from the measurements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchmarks.loads import orders
from benchmarks.loads.contestants import CONTESTANTS, MODES, Contestant, Load
from benchmarks.loads.timing import TOO_LONG

if TYPE_CHECKING:
    from benchmarks.loads.results import Results, Score

TARGETS = {"postgres": "PostgreSQL", "duckdb": "DuckDB"}
DEEDS = {
    "append": "append: the first day into an empty database",
    "merge": "merge: the second day onto the first",
    "scd2": "scd2: the second day onto the history of the first",
}
LOADS = tuple(Load(target, mode) for target in TARGETS for mode in MODES)
# How many times as fast as the peer ours shall be, by mode.
GOALS = {
    "append": {"spark": 2.5, "ematix-flow-1": 4.0, "dlt": 4.0},
    "merge": {"ematix-flow-1": 3.0, "dlt": 3.0},
    "scd2": {"ematix-flow-1": 3.0, "dlt": 3.0},
}
# In the database ours shall be ahead of this one, which works there too.
AHEAD_OF = "ematix-flow-1-in-database"

PAGE = """# Loads, measured

<!-- Written by benchmarks/load.py --page; `make bench-load` measures again. -->

How fast rows get into a database, against stock Spark, ematix-flow 1.0 (the Rust one) and dlt, all
in one run on one machine. {rows:,} rows of {columns} mixed columns, from PostgreSQL into
PostgreSQL and into DuckDB. On the second day a tenth of the rows has changed and a thousandth is
new; the whole day is loaded again, as a nightly job does.

![Seconds per load; shorter is better]({plot})

{machine}. Median of {repeats} in turns.

{tables}
{failures}
## How it was measured

- **The clock** runs from the prompt to the prompt: a new process for every load, the start of
  Python and of the JVM included. *Warm* lines are apart, because they begin with an engine that is
  up and has made one load: `flow run` beside `flow engine start` (the whole command is timed,
  the engine's start is not); and a Spark session that has made one load (only the load inside the
  script is timed, not even Python's start, which favours it).
- **In the database** means that the source is a table of the target's own database.
- **Right or no time**: after each load the number of the target's rows and the sum of their hashes
  are compared with the source; for a history, current and closed rows each. All contestants
  passed where a time stands.
- **Merge and history** start from the contestant's own load of the first day, which is made once
  and copied with everything it keeps (database and files), then vacuumed and analysed.
- **Memory** is the highest sum of proportional memory (PSS) of the contestant's processes, five
  times a second; of a warm engine, the engine's too. The server's memory is not in it.
- **The server** is the tests' own, the same for everybody, on the same machine: {server}. With
  fsync off it does not wait for the disk, which a server in production does.
- **The keys**: ours, ematix-flow 1.0 and the Spark scripts load into a table with a primary key.
  dlt makes none, which spares it the index.

### The contestants

- **ematix_flow** is this repository: `flow run` between two connections, which takes the
  [direct path](../pipelines.md#where-the-rows-go-through); *through Spark*, with
  `force_path="spark"`, as a load does that needs Spark, on the engine `local` of a machine where
  `flow engine prepare` was run once (what that saves is on the page about [start-up](startup.md));
  *warm Spark* is the same beside `flow engine start`; *in the database*, source and target are on
  one connection.
- **Spark JDBC** is a stock script with `read.jdbc` and `write.jdbc`, tuned as Spark's documentation
  advises: as many partitions as cores, batches of 10,000 rows, `reWriteBatchedInserts`, no UI, a
  driver of 2 GB. Its merge is written by hand: append into an unlogged staging table, then one
  `INSERT ... ON CONFLICT DO UPDATE` of what changed. It keeps no ledger, and an append that dies
  leaves what it had written.
- **ematix-flow 1.0** is `pipeline.sync` between two connections; *in the database*, both are one.
  Its batch loads go into PostgreSQL only.
- **dlt** reads with its source of SQL tables and the pyarrow backend in chunks of 100,000, and
  loads Parquet through ADBC; merge is its `upsert`, history goes by its row hash. With its *own
  Arrow source* the rows come from a resource written by hand that reads with ADBC.

Versions: {versions}.
{goals}
## Where we lose

In the database ours and ematix-flow 1.0 both leave the work to the server, and ours does more of
it: the selected rows are kept in a temporary table first, so that the rows that were judged (every
value against its declared type, every key for duplicates) are the rows that are stored. In the
server's log that took about 1.1 s of an append and 1.8 s of a merge or a history; the start of
Python and the plan take most of another second. Comparing columns instead of hashes wins it back
in a history, nearly.

{losses}
{memory}
## What it does not show

Other machines, a server across a network, a busy machine, wider rows or small ones; loads of a few
thousand rows, where starting is all there is to see ([start-up](startup.md) has those); many cores,
where Spark's tasks read and stage in parallel and the direct path has one stream.

## Again

```text
make bench-load                                            # everything, and this page
.venv/bin/python benchmarks/load.py --rows 100000 --repeat 1 --only flow --only dlt:merge
.venv/bin/python benchmarks/load.py --resume --page        # go on after an interruption
.venv/bin/python benchmarks/load.py --resume --repeat 0 --memory --page    # the small driver
```
"""


def page(results: Results, plot: str) -> str:
    """Return the page of the documentation."""
    return PAGE.format(
        rows=results.rows,
        columns=len(orders.COLUMNS),
        plot=plot,
        machine=results.machine,
        repeats=_repeats(results),
        tables="\n\n".join(_tables(results)),
        failures=_failures(results) + _unmeasured(results),
        server=", ".join(f"{name} {value}" for name, value in results.server.items()),
        versions="; ".join(f"`{where}`: {what}" for where, what in results.versions.items()),
        goals=_section("## The goals", goals(results)),
        losses="\n".join(losses(results)) or "Nowhere, in what was measured.",
        memory=_section("## Memory is bounded", _memory(results)),
    )


def summary(results: Results) -> str:
    """Return what the terminal shows."""
    parts = [results.machine, *_tables(results)]
    for title, lines in (
        ("Goals", goals(results)),
        ("Where we lose", losses(results)),
        ("Memory", _memory(results)),
        (
            "Failed",
            iter(f"- {place}: {_last_line(why)}" for place, why in results.failures.items()),
        ),
    ):
        if found := list(lines):
            parts.append("\n".join([f"{title}:", *found]))
    return "\n\n".join(parts)


def _failures(results: Results) -> str:
    """Name the loads without a time; why is a matter for the terminal."""
    if not results.failures:
        return ""
    names = ", ".join(f"`{place}`{_too_long(why)}" for place, why in results.failures.items())
    return f"\nWithout a time, because the load failed or its rows were wrong: {names}.\n"


def _too_long(why: str) -> str:
    last = _last_line(why)
    return f" ({last})" if last.startswith(TOO_LONG) else ""


def _unmeasured(results: Results) -> str:
    """Name the loads that this page should have and has not."""
    left = [
        f"{each.label} ({TARGETS[load.target]}, {load.mode})"
        for each in CONTESTANTS
        for load in each.loads
        if results.score(each.name, load) is None
        and f"{each.name}:{load.target}:{load.mode}" not in results.failures
    ]
    return f"\nNot measured this time: {'; '.join(left)}.\n" if left else ""


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1]


def _section(title: str, lines: Iterator[str]) -> str:
    found = list(lines)
    return "\n".join(["", title, "", *found, ""]) if found else ""


def _tables(results: Results) -> Iterator[str]:
    for load in LOADS:
        rows = [(each, results.score(each.name, load)) for each in CONTESTANTS]
        scores = {each.name: (each, score) for each, score in rows if score is not None}
        if scores:
            title = f"**{TARGETS[load.target]}, {DEEDS[load.mode]}**"
            yield f"{title}\n\n{_table(results, scores)}"


def _table(results: Results, scores: dict[str, tuple[Contestant, Score]]) -> str:
    ours = [(each, score) for each, score in scores.values() if each.ours]
    heads = ["", "median s", "fastest", "slowest", "rows/s", "peak MiB"]
    heads += [f"÷ {each.label.removeprefix('ematix_flow, ')}" for each, _ in ours]
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    for each, score in scores.values():
        cells = [
            f"**{each.label}**" if each.ours else each.label,
            f"{score.seconds:.2f}",
            f"{score.fastest:.2f}",
            f"{score.slowest:.2f}",
            f"{results.rows / score.seconds:,.0f}",
            f"{score.peak_bytes / 2**20:,.0f}",
        ]
        cells += [f"{score.seconds / our.seconds:.2f}" for _, our in ours]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def goals(results: Results) -> Iterator[str]:
    """Say for every goal what was reached; a Markdown table without the cases not measured."""
    lines = list(_goal_lines(results))
    if lines:
        yield "| goal | direct | through Spark | warm Spark | in the database |"
        yield "| --- | ---: | ---: | ---: | ---: |"
        yield from lines


def _goal_lines(results: Results) -> Iterator[str]:
    labels = {each.name: each.label for each in CONTESTANTS}
    for mode, peers in GOALS.items():
        load = Load("postgres", mode)
        for name, times in peers.items():
            peer = results.score(name, load)
            ours = [results.score(our.name, load) for our in CONTESTANTS if our.ours]
            if peer is None or not any(ours):
                continue
            cells = " | ".join(_reached(peer, score, times) for score in ours)
            yield f"| {mode}: {times:g} times as fast as {labels[name]} | {cells} |"
        inside, ahead = results.score("flow-in-database", load), results.score(AHEAD_OF, load)
        if inside and ahead:
            yield f"| {mode}: ahead of {labels[AHEAD_OF]} | | | | {_reached(ahead, inside, 1.0)} |"


def _reached(peer: Score, ours: Score | None, goal: float) -> str:
    if ours is None:
        return ""
    times = peer.seconds / ours.seconds
    return f"{times:.1f}, {'met' if times >= goal else 'missed'}"


def losses(results: Results) -> Iterator[str]:
    """Say, for each of our lines, who was faster and who needed less memory."""
    for load in LOADS:
        for our in CONTESTANTS:
            ours = results.score(our.name, load) if our.ours else None
            if ours is None:
                continue
            faster = _ahead(results, our, load, ours, "seconds")
            smaller = _ahead(results, our, load, ours, "peak_bytes")
            told = [
                *(f"{name} is faster ({ratio:.1f} times)" for name, ratio in faster),
                *(f"{name} needs less memory ({ratio:.1f} times)" for name, ratio in smaller),
            ]
            if told:
                yield f"- {TARGETS[load.target]}, {load.mode}, {our.label}: {'; '.join(told)}."


def _ahead(
    results: Results, our: Contestant, load: Load, ours: Score, measure: str
) -> Iterator[tuple[str, float]]:
    """Yield the peers that needed less, and by how much ours is more."""
    for peer in CONTESTANTS:
        score = results.score(peer.name, load)
        if peer.ours or score is None or not is_like(our, peer):
            continue
        ratio = getattr(ours, measure) / getattr(score, measure)
        if ratio > 1:
            yield peer.label, ratio


def is_like(our: Contestant, peer: Contestant) -> bool:
    """Say whether a peer's time may be held against ours.

    Not a warm session against our new process, nor a peer inside the database against our way
    between two; the other way round it may.
    """
    starts = our.start == "warm" or peer.start == "new process"
    places = our.place == "in one database" or peer.place == "between databases"
    return starts and places


def _memory(results: Results) -> Iterator[str]:
    found = results.memory
    if found is None:
        return
    seconds, peak = found["seconds"], found["peak_bytes"] / 2**20
    yield (
        f"{found['rows']:,} rows, appended from PostgreSQL to PostgreSQL with "
        f"`spark.driver.memory = {found['driver']}`: {seconds:.0f} s, "
        f"{found['rows'] / seconds:,.0f} rows/s, and a peak of {peak:,.0f} MiB of all processes "
        "together."
    )


def _repeats(results: Results) -> str:
    counts = {
        results.count(each.name, load)
        for each in CONTESTANTS
        for load in each.loads
        if results.count(each.name, load)
    }
    if not counts:
        return "none"
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
