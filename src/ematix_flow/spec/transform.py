"""Steps around a pipeline's query: before its rows are written, and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ematix_flow._base.location import Location
from ematix_flow.errors import refused
from ematix_flow.spec.schedule import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class DeduplicateBy:
    """Keep one row per key: the first by *order_by*."""

    keys: tuple[str, ...]
    order_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterWhere:
    """Keep the rows that satisfy an SQL condition."""

    condition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """Keep at most this many rows."""

    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePct:
    """Keep about this many rows of a hundred, the same ones for the same seed."""

    percent: float
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlStep:
    """SQL of the user's own."""

    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionStep:
    """A function of the user's own, frame to frame."""

    function: Callable[..., object]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformRef:
    """A stand-alone transform, by name."""

    name: str


TransformStep = (
    DeduplicateBy | FilterWhere | Limit | SamplePct | SqlStep | FunctionStep | TransformRef
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """A stand-alone transform: SQL run in a connection, on its own or after pipelines."""

    name: str
    target_connection: str
    function: Callable[..., object]
    location: Location
    schedule: Schedule | None = None
    depends_on: tuple[str, ...] = ()
    dialect: str | None = None
    description: str = ""


def deduplicate_by(*keys: str, order_by: str) -> DeduplicateBy:
    """Keep one row per *keys*: the first by *order_by*, e.g. `"updated_at DESC"`."""
    if not keys or not all(_is_text(key) for key in keys):
        raise refused(f"deduplicate_by takes column names, not {keys!r}")
    if not _is_text(order_by):
        raise refused(
            f"deduplicate_by: order_by takes columns, e.g. 'updated_at DESC', not {order_by!r}"
        )
    return DeduplicateBy(keys=keys, order_by=order_by)


def filter_where(condition: str) -> FilterWhere:
    """Keep the rows for which the SQL *condition* is true."""
    if not _is_text(condition):
        raise refused(f"filter_where takes an SQL condition, not {condition!r}")
    return FilterWhere(condition=condition)


def limit(rows: int) -> Limit:
    """Keep at most *rows* rows."""
    if not _is_number(rows, int) or rows < 0:
        raise refused(f"limit takes a number of rows, not {rows!r}")
    return Limit(rows=rows)


def sample_pct(percent: float, *, seed: int = 0) -> SamplePct:
    """Keep about *percent* of a hundred rows."""
    if not _is_number(percent, int, float) or not 0 < percent <= 100:
        raise refused(f"sample_pct takes a percentage above 0 and up to 100, not {percent!r}")
    return SamplePct(percent=percent, seed=seed)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: object, *kinds: type) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)
