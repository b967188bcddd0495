"""What users pass to a keyword, checked and brought to one form.

Each check returns the value as the specs hold it, or raises ValueError with what was expected;
the caller adds the keyword's name and the user's line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import TypeVar

from ematix_flow._base.suggest import did_you_mean
from ematix_flow.spec.duration import FORM, parse_duration
from ematix_flow.spec.pipeline import Expectation, HistoryColumns
from ematix_flow.spec.retry import Retry
from ematix_flow.spec.transform import (
    DeduplicateBy,
    FilterWhere,
    FunctionStep,
    Limit,
    SamplePct,
    SqlStep,
    TransformRef,
    TransformStep,
)

_CONDITION = "an SQL condition such as \"op = 'd'\""

Choice = TypeVar("Choice", bound=StrEnum)


def name(value: object) -> str:
    """Check a name."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"takes a name, not {value!r}")
    return value


def names(value: object) -> tuple[str, ...]:
    """Check one name or several; what has a name (a pipeline) counts as it."""
    listed = value if isinstance(value, list | tuple | set | frozenset) else [value]
    if isinstance(value, set | frozenset):
        listed = sorted(value, key=str)  # a set has another order in each process
    found = [each if isinstance(each, str) else getattr(each, "name", None) for each in listed]
    if not all(isinstance(each, str) and each.strip() for each in found):
        raise ValueError(f"takes a name or a list of names, not {value!r}")
    return tuple(dict.fromkeys(str(each) for each in found))


def flag(value: object) -> bool:
    """Check True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"takes True or False, not {value!r}")  # noqa: TRY004  # one error for bad values
    return value


def choice(kind: type[Choice]) -> Callable[[object], Choice]:
    """Return the check for one of a closed set."""

    def check(value: object) -> Choice:
        try:
            return kind(str(value))
        except ValueError:
            options = [each.value for each in kind]
            raise ValueError(
                f"cannot be {value!r}"
                + did_you_mean(value, options)
                + f" (known: {', '.join(options)})"
            ) from None

    return check


def fraction(value: object) -> float:
    """Check a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"takes a fraction from 0 to 1, not {value!r}")
    return float(value)


def lookback(value: object) -> timedelta | int:
    """Check a duration, or a number for a numeric cursor."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    try:
        return parse_duration(value)
    except ValueError:
        raise ValueError(
            f"takes {FORM}, or a whole number for a numeric column, not {value!r}"
        ) from None


def condition(value: object) -> str:
    """Check an SQL condition: that it parses; what it means is checked where it runs."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"takes {_CONDITION}, not {value!r}")
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        parsed = sqlglot.parse(f"SELECT 1 WHERE {value}", dialect="spark")  # read only, never run
    except SqlglotError as error:
        # Its own words name classes of the parser, and places in a text that nobody wrote.
        [place, *_] = getattr(error, "errors", None) or [{}]
        at = place.get("highlight")
        told = f" (something is missing or too much at {at!r})" if at else ""
        raise ValueError(f"takes {_CONDITION}, not {value!r}{told}") from None
    clauses = [{key for key, each in query.args.items() if each} for query in parsed if query]
    if clauses != [{"expressions", "where"}]:
        raise ValueError(f"takes {_CONDITION} and nothing more, not {value!r}")
    return value


def column_map(value: object) -> tuple[tuple[str, str], ...]:
    """Check a mapping of result columns to target columns."""
    if not isinstance(value, Mapping) or not all(
        isinstance(text, str) and text for pair in value.items() for text in pair
    ):
        raise ValueError(f"takes {{'name in the query': 'name in the target'}}, not {value!r}")
    targets = list(value.values())
    if twice := _repeated(targets):
        raise ValueError(f"maps two columns to {twice!r}, which takes one")
    return tuple(value.items())


def history_columns(value: object) -> HistoryColumns:
    """Check the new names of scd2's columns."""
    known = ("valid_from", "valid_to", "is_current")
    if not isinstance(value, Mapping):
        raise ValueError(f"takes {{'valid_from': 'name', ...}}, not {value!r}")  # noqa: TRY004
    for key, text in value.items():
        if key not in known:
            raise ValueError(
                f"has no {key!r}" + did_you_mean(key, known) + f" (known: {', '.join(known)})"
            )
        if not isinstance(text, str) or not text:
            raise ValueError(f"takes names, not {text!r} for {key}")
    found = HistoryColumns(**value)
    if twice := _repeated([found.valid_from, found.valid_to, found.is_current]):
        raise ValueError(f"names two columns {twice!r}; each takes a name of its own")
    return found


def upstream_freshness(value: object) -> tuple[tuple[str, timedelta], ...]:
    """Check one duration for every upstream, or one by name."""
    if isinstance(value, Mapping):
        return tuple((name(key), parse_duration(each)) for key, each in value.items())
    return (("*", parse_duration(value)),)


def retry(value: object) -> Retry:
    """Check a Retry, a table of its fields, or a number of attempts."""
    match value:
        case Retry():
            return value
        case bool():
            pass
        case int():
            return Retry(max_attempts=value)
        case Mapping():
            known = Retry.__dataclass_fields__
            for key in value:
                if key not in known:
                    raise ValueError(
                        f"has no {key!r}"
                        + did_you_mean(key, known)
                        + f" (known: {', '.join(known)})"
                    )
            return Retry(**value)
    raise ValueError(f"takes Retry(...) or a number of attempts, not {value!r}")


def expectations(value: object) -> tuple[Expectation, ...]:
    """Check named SQL conditions, or a list of conditions that name themselves."""
    if isinstance(value, Mapping):
        pairs = [(name(key), condition(each)) for key, each in value.items()]
    elif isinstance(value, list | tuple):
        pairs = [(str(each), condition(each)) for each in value]
    else:
        raise ValueError(  # noqa: TRY004  # one error for bad values
            f"takes {{'name': 'SQL condition'}} or a list of conditions, not {value!r}"
        )
    return tuple(Expectation(name=label, condition=text) for label, text in pairs)


def steps(value: object) -> tuple[TransformStep, ...]:
    """Check SQL, functions and ready-made steps."""
    listed = value if isinstance(value, list | tuple) else [value]
    return tuple(_step(each) for each in listed)


def _step(value: object) -> TransformStep:
    match value:
        case DeduplicateBy() | FilterWhere() | Limit() | SamplePct() | TransformRef():
            return value
        case str() if value.strip():
            return SqlStep(sql=value)
        case _ if callable(value) and not isinstance(value, type):
            hint = {"deduplicate_by", "filter_where", "limit", "sample_pct"}
            called = getattr(value, "__name__", "")
            if called in hint and value.__module__.startswith("ematix_flow"):
                raise ValueError(f"takes {called}(...), called, not the function itself")
            return FunctionStep(function=value)
        case _:
            raise ValueError(
                "takes SQL, a function, or deduplicate_by, filter_where, limit, sample_pct, "
                f"transform_ref, not {value!r}"
            )


_NAME = re.compile(r"[^\W\d][\w.\-]{0,99}")


def declared_name(value: object, what: str = "pipeline") -> str:
    """Check the name of a pipeline or workflow: it names files, locks and ledger rows."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"takes a name, not {value!r}")
    if not _NAME.fullmatch(value):
        raise ValueError(
            f"{value!r} cannot name a {what}: it takes a letter first, then letters, digits, "
            "_ . -, at most 100 in all"
        )
    return value


def _repeated(values: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for each in values:
        if each in seen:
            return each
        seen.add(each)
    return None
