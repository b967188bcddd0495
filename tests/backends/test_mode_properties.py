"""Order does not matter: random events, shuffled and split anyhow, equal a plain oracle.

Thousands of logs are packed as keys of one table, and run from the driver on pre-staged rows.
The seed is in the test's name; `make soak` draws new ones.
"""

import os
import random

import pytest

from ematix_flow.spec.modes import Mode
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import BigInt, String, Text
from ematix_flow.sqltext.program.grammar import Grammar
from tests.backends import oracle
from tests.backends.mode_bench import DAY, HERE, NOW, moment

KEYS, EVENTS, BATCHES = 1500, 7, 6
SEEDS = [int(os.environ["EMATIX_FLOW_SEED"])] if "EMATIX_FLOW_SEED" in os.environ else [7]
TABLE = Table(
    name=TableName(name="t"),
    location=HERE,
    columns=(
        Column(name="a", type=String(20), primary_key=True),
        Column(name="b", type=BigInt(), primary_key=True),
        Column(name="x", type=Text(), nullable=True),
        Column(name="n", type=BigInt(), nullable=True),
    ),
)
VALUES = ("x", "n")


def colliding(number):
    """A key of its own, which is another's when its columns are put together: k1 23 and k12 3."""
    digits, cut = str(1000 + number // 3), 1 + number % 3
    return f"k{digits[:cut]}", int(digits[cut:])


def test_keys_could_be_mixed_up():
    keys = {colliding(number) for number in range(KEYS)}
    assert len(keys) == KEYS
    assert len({f"{a}{b}" for a, b in keys}) < KEYS / 2


def some_events(rng, *, deletes=True, numbered=False):
    """A log for each key: few moments and few values, so that all meet; some events twice.

    :param numbered: Whether a number orders the events of one moment.
    """
    for number in range(KEYS):
        key = colliding(number)
        for _ in range(rng.randint(1, EVENTS)):
            event = {
                **dict(zip(("a", "b"), key, strict=True)),
                "x": rng.choice([None, "", "x", "X", "x "]),
                "n": rng.choice([None, 0, 1]),
                "_flow_at": NOW + rng.randint(0, 9) * DAY,
            }
            event["_flow_seq"] = event["_flow_at"].strftime("%Y-%m-%d %H:%M:%S.%f")
            if numbered:
                event["_flow_seq"] += f".{10**19 + rng.randint(0, 2):020}"
            if deletes:
                event["_flow_deleted"] = rng.random() < 0.2
            yield from [event] * rng.choice([1, 1, 1, 2])


def in_batches(events, rng):
    """The same events in another order, cut anywhere."""
    shuffled = rng.sample(events, len(events))
    cuts = sorted(rng.sample(range(1, len(shuffled)), BATCHES - 1))
    return [shuffled[a:b] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]


def as_told(table, events):
    """The events as the oracle takes them; between equals the database's digest decides."""
    digests = {}
    names = table.layout.given
    grammar = Grammar(table.target.dialect)
    with table.target.open() as session:
        session.show_staging(table.staged(events), table.layout.staging, "all_events")
        columns = [table.layout.column(name) for name in names]
        listed = f"{grammar.columns('s', names)}, {grammar.digest('s', columns)}"
        for *row, digest in session.fetch(f"SELECT DISTINCT {listed} FROM all_events AS s"):
            digests[tuple(row)] = digest
        if grammar.is_mysql:
            session.execute("DROP TABLE IF EXISTS all_events")
    for event in events:
        key, values = (event["a"], event["b"]), {name: event[name] for name in VALUES}
        digest = digests[tuple(event[name] for name in names)]
        yield key, event["_flow_at"], event.get("_flow_deleted", False), digest, values


def last_of_moments(events):
    """The events that have the highest number of their moment: no other can count."""
    highest = {}
    for event in events:
        moment = (event["a"], event["b"], event["_flow_at"])
        highest[moment] = max(highest.get(moment, ""), event["_flow_seq"])
    return [e for e in events if e["_flow_seq"] == highest[e["a"], e["b"], e["_flow_at"]]]


def loaded(table, events, rng, **options):
    for number, batch in enumerate(in_batches(events, rng)):
        table.load(batch, now=NOW + (20 + number) * DAY, **options)


@pytest.mark.proves(
    "any-order", "equal-sequences", "duplicates-last", "update-columns", "keys-by-column"
)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("option", ["plain", "ignore_null", "update"])
def test_the_latest_row_does_not_depend_on_the_order(bench, option, seed):
    rng = random.Random(f"{option} {seed}")
    deletes = option != "update"
    options = {
        "plain": {},
        "ignore_null": {"ignore_null_updates": True},
        "update": {"update_columns": ("n",)},
    }[option]
    if deletes:
        options["apply_as_deletes"] = "op = 'D'"
    table = bench(Mode.SCD1, table=TABLE, sequence_by=("at",), **options)
    events = list(some_events(rng, deletes=deletes))
    told = list(as_told(table, events))
    loaded(table, events, rng)
    expected = oracle.latest(
        told, options.get("update_columns"), ignore_null=option == "ignore_null"
    )
    assert rows_of(table) == expected


def rows_of(table):
    return {(a, b): {"x": x, "n": n} for a, b, x, n in table.rows("a", "b", *VALUES)}


@pytest.mark.proves(
    "any-order",
    "late-spliced",
    "equal-sequences",
    "collapsed-remembered",
    "scd2-change",
    "scd2-null-is-change",
    "compare-columns",
    "ttl",
    "keys-by-column",
)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("option", ["plain", "compare", "ttl", "numbered"])
def test_history_does_not_depend_on_the_order(bench, option, seed):
    rng = random.Random(f"{option} {seed}")
    options = {
        "plain": {},
        "compare": {"compare_columns": ("x",)},
        "ttl": {"ttl": 2 * DAY},
        "numbered": {"sequence_by": ("number",)},
    }[option]
    table = bench(
        Mode.SCD2, table=TABLE, event_timestamp_column="at", apply_as_deletes="op = 'D'", **options
    )
    events = list(some_events(rng, numbered=option == "numbered"))
    told = list(as_told(table, last_of_moments(events)))
    loaded(table, events, rng)
    compare = options.get("compare_columns", VALUES)
    last = NOW + (19 + BATCHES) * DAY
    expected = sorted(
        oracle.history(told, compare, options.get("ttl"), last), key=lambda each: (each[0], each[1])
    )
    found = history_of(table)
    assert [each[:4] for each in found] == expected
    assert all(current == (end is None) for _, _, end, _, current in found)
    again = table.load(rng.sample(events, len(events)), now=last)
    assert again.rows.unchanged == len(events), "what is known changes nothing"


def history_of(table):
    found = table.rows("a", "b", *VALUES, "valid_from", "valid_to", "is_current")
    versions = [
        ((a, b), moment(start), moment(end), {"x": x, "n": n}, bool(current))
        for a, b, x, n, start, end, current in found
    ]
    return sorted(versions, key=lambda each: (each[0], each[1]))


@pytest.mark.proves("scd2-ends-as-scd1")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_version_is_the_latest_row(bench, seed):
    rng = random.Random(f"both {seed}")
    options = {"event_timestamp_column": "at", "apply_as_deletes": "op = 'D'", "table": TABLE}
    history = bench(Mode.SCD2, **options)
    events = list(some_events(rng))
    loaded(history, events, rng)
    current = {key: values for key, _, end, values, _ in history_of(history) if end is None}
    other = Table(name=TableName(name="u"), location=HERE, columns=TABLE.columns)
    latest = bench(Mode.SCD1, **{**options, "table": other})
    loaded(latest, events, rng)
    assert rows_of(latest) == current
