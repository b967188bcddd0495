"""How Spark is set up for this machine and this input: settings, each with its reason.

Pure: nothing here knows pyspark. `explain` prints what `size` returns, and the
session is built from the same list, so the two cannot differ. No setting is
required of the user; any can be overridden.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ematix_flow._base.sizes import shown_bytes
from ematix_flow.engine.choice import EngineKind
from ematix_flow.engine.host.machine import GIB, Machine

MIB = 1024**2

JAVA_OPTIONS = "spark.driver.extraJavaOptions"

# Memory beyond this costs a JVM its short object pointers: more heap, fewer objects.
_LARGEST_HEAP = 31 * GIB
_SMALLEST_HEAP = GIB
# One shuffle partition per this much input keeps a task's sort in memory.
_PARTITION_BYTES = 64 * MIB
_MOST_PARTITIONS = 2000
_CLUSTER_PARTITIONS = 200
_SMALLEST_BROADCAST = 10 * MIB
_LARGEST_BROADCAST = 256 * MIB
_GUESSED_BROADCAST = 32 * MIB

# Spark SQL settings that a running session refuses to change.
_STATIC_SQL = (
    "spark.sql.cache.serializer",
    "spark.sql.catalogImplementation",
    "spark.sql.extensions",
    "spark.sql.globalTempDatabase",
    "spark.sql.hive.",
    "spark.sql.queryExecutionListeners",
    "spark.sql.streaming.streamingQueryListeners",
    "spark.sql.streaming.ui.",
    "spark.sql.ui.",
    "spark.sql.warehouse.dir",
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One Spark setting and why it has this value."""

    key: str
    value: str
    why: str

    @property
    def per_session(self) -> bool:
        """Tell whether a single session can have it, without its server starting anew."""
        return self.key.startswith("spark.sql.") and not self.key.startswith(_STATIC_SQL)


@dataclass(frozen=True, slots=True)
class Sizing:
    """All settings of one engine, ready for `explain` and for the session."""

    settings: tuple[Setting, ...]

    def value(self, key: str) -> str | None:
        """Return the value of *key*, if it is set."""
        return next((setting.value for setting in self.settings if setting.key == key), None)

    def conf(self) -> dict[str, str]:
        """Return all settings as Spark takes them."""
        return {setting.key: setting.value for setting in self.settings}

    def session_conf(self) -> dict[str, str]:
        """Return those that belong to one session (a remote engine takes only these)."""
        return {setting.key: setting.value for setting in self.settings if setting.per_session}

    def static_conf(self) -> dict[str, str]:
        """Return those that are fixed when Spark starts."""
        return {setting.key: setting.value for setting in self.settings if not setting.per_session}

    def to_json(self) -> list[dict[str, str]]:
        """Return the settings as `explain --format json` shows them."""
        return [
            {"key": setting.key, "value": setting.value, "why": setting.why}
            for setting in self.settings
        ]


def size(
    machine: Machine,
    input_bytes: int | None = None,
    overrides: Mapping[str, str] | None = None,
    *,
    engine: EngineKind = "local",
    set_in: str = "the project's TOML",
) -> Sizing:
    """Choose Spark's settings.

    :param input_bytes: The size of everything the pipeline reads; None when unknown.
    :param overrides: The user's own settings, which win.
    :param engine: A local Spark is sized to the machine; a cluster sizes itself.
    :param set_in: Where the overrides stand, for the reason shown.
    """
    chosen = [*_semantics(), *_workload(machine, input_bytes, engine)]
    if engine in {"local", "master"}:
        chosen += _driver(machine, engine)
    if engine == "local":
        chosen += _loopback()
    settings = {setting.key: setting for setting in chosen}
    for key, value in (overrides or {}).items():
        # Java options add up: theirs come last and win, ours (UTC) stay.
        ours = f"{settings[key].value} " if key == JAVA_OPTIONS and key in settings else ""
        settings[key] = Setting(key, f"{ours}{value}", f"set in {set_in}")
    return Sizing(tuple(settings.values()))


def _semantics() -> list[Setting]:
    """Settings that decide what a query means: the same on every engine."""
    return [
        Setting("spark.sql.session.timeZone", "UTC", "one time zone on every machine"),
        Setting("spark.sql.ansi.enabled", "true", "overflows and bad casts are errors, not NULLs"),
        Setting(
            "spark.sql.parquet.outputTimestampType",
            "TIMESTAMP_MICROS",
            "staged instants say that they are instants",
        ),
        Setting(
            "spark.sql.parquet.datetimeRebaseModeInWrite",
            "CORRECTED",
            "dates before 1582 are staged as they are",
        ),
    ]


def _workload(machine: Machine, input_bytes: int | None, engine: EngineKind) -> list[Setting]:
    return [
        Setting("spark.sql.adaptive.enabled", "true", "plans adapt to the sizes seen"),
        _shuffle_partitions(machine, input_bytes, engine),
        _broadcast_limit(machine, input_bytes),
        Setting(
            "spark.sql.execution.arrow.pyspark.enabled",
            "true",
            "rows reach Python in columns, not one by one",
        ),
    ]


def _shuffle_partitions(machine: Machine, input_bytes: int | None, engine: EngineKind) -> Setting:
    key = "spark.sql.shuffle.partitions"
    least = _CLUSTER_PARTITIONS if engine in {"master", "connect"} else machine.cores
    if input_bytes is None:
        count = least if engine in {"master", "connect"} else 4 * machine.cores
        return Setting(key, str(count), f"input size unknown, {_cores(machine.cores)}")
    wanted = -(-input_bytes // _PARTITION_BYTES)
    count = min(max(wanted, least), _MOST_PARTITIONS)
    reason = f"one per {shown_bytes(_PARTITION_BYTES)} of the {shown_bytes(input_bytes)} input"
    if count == least:
        floor = f"a cluster's {least}" if least == _CLUSTER_PARTITIONS else _cores(least)
        reason = f"input is {shown_bytes(input_bytes)}, at least {floor}"
    elif count == _MOST_PARTITIONS:
        reason = f"input is {shown_bytes(input_bytes)}, at most {_MOST_PARTITIONS}"
    return Setting(key, str(count), reason)


def _broadcast_limit(machine: Machine, input_bytes: int | None) -> Setting:
    """Tables below the limit are copied to every task instead of shuffling the other side.

    The copy takes several times its size on disk, so the limit is a small part of the heap.
    """
    key = "spark.sql.autoBroadcastJoinThreshold"
    most = min(max(_heap(machine) // 64, _SMALLEST_BROADCAST), _LARGEST_BROADCAST)
    if input_bytes is None:
        limit = min(most, _GUESSED_BROADCAST)
        return Setting(key, str(limit), "input size unknown")
    limit = min(max(input_bytes // 2, _SMALLEST_BROADCAST), most)
    reason = f"half of the {shown_bytes(input_bytes)} input"
    if limit == most:
        reason = "1/64 of the driver's memory" if most > _SMALLEST_BROADCAST else "a small heap"
    elif limit == _SMALLEST_BROADCAST:
        reason = f"input is {shown_bytes(input_bytes)}"
    return Setting(key, str(limit), reason)


def _driver(machine: Machine, engine: EngineKind) -> list[Setting]:
    heap = _heap(machine)
    why = f"half of {shown_bytes(machine.memory_bytes)}; the rest is for Python and file caches"
    if engine == "master":
        heap, why = min(heap, 4 * GIB), "the work happens on the cluster"
    elif heap == _LARGEST_HEAP:
        why = "above 31 GiB a JVM's pointers grow"
    elif heap == _SMALLEST_HEAP:
        why = f"the least Spark works with; this machine has {shown_bytes(machine.memory_bytes)}"
    return [
        Setting("spark.driver.memory", f"{heap // MIB}m", why),
        Setting(
            JAVA_OPTIONS,
            "-XX:+UseParallelGC -XX:InitialRAMPercentage=5 -Duser.timezone=UTC",
            "starts sooner and does more work than G1 on small machines; UTC",
        ),
        Setting("spark.ui.enabled", "false", "nobody asked for Spark's own UI"),
        Setting("spark.ui.showConsoleProgress", "false", "ematix-flow shows progress itself"),
        Setting("spark.log.level", "ERROR", "Spark's own log is for its faults"),
    ]


def _loopback() -> list[Setting]:
    why = "nothing outside this machine may connect"
    return [
        Setting("spark.driver.host", "127.0.0.1", why),
        Setting("spark.driver.bindAddress", "127.0.0.1", why),
    ]


def _heap(machine: Machine) -> int:
    return min(max(machine.memory_bytes // 2, _SMALLEST_HEAP), _LARGEST_HEAP)


def _cores(count: int) -> str:
    return f"{count} core" if count == 1 else f"{count} cores"
