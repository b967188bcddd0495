"""Normalization markers: how a column's values are cleaned before the contract judges them."""

from ematix_flow.spec.normalize.expression import derive, sql
from ematix_flow.spec.normalize.marker import Fallible, Marker
from ematix_flow.spec.normalize.number import clamp, parse_int, parse_numeric, round  # noqa: A004
from ematix_flow.spec.normalize.phone import phone_normalize
from ematix_flow.spec.normalize.text import (
    email_normalize,
    empty_to_null,
    lower,
    regex_replace,
    replace,
    trim,
    truncate,
    upper,
    whitespace_to_null,
)
from ematix_flow.spec.normalize.time import date_trunc, parse_date, parse_timestamp, to_timezone
from ematix_flow.spec.normalize.value import default, not_null_or, nullif, parse_bool

FACTORIES = (
    *("trim", "lower", "upper", "empty_to_null", "whitespace_to_null", "replace"),
    *("regex_replace", "truncate", "email_normalize", "phone_normalize", "parse_timestamp"),
    *("parse_date", "to_timezone", "date_trunc", "parse_int", "parse_numeric", "round"),
    *("clamp", "parse_bool", "default", "nullif", "not_null_or", "sql", "derive"),
)

__all__ = [
    "FACTORIES",
    "Fallible",
    "Marker",
    "clamp",
    "date_trunc",
    "default",
    "derive",
    "email_normalize",
    "empty_to_null",
    "lower",
    "not_null_or",
    "nullif",
    "parse_bool",
    "parse_date",
    "parse_int",
    "parse_numeric",
    "parse_timestamp",
    "phone_normalize",
    "regex_replace",
    "replace",
    "round",
    "sql",
    "to_timezone",
    "trim",
    "truncate",
    "upper",
    "whitespace_to_null",
]
