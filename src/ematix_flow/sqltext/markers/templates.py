"""From a marker to its steps: the one place where all markers are listed."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from ematix_flow.spec.normalize.expression import Expression
from ematix_flow.spec.normalize.family import Family
from ematix_flow.spec.normalize.marker import Marker
from ematix_flow.spec.normalize.number import Clamp, ParseInt, ParseNumeric, Round
from ematix_flow.spec.normalize.phone import PhoneNormalize
from ematix_flow.spec.normalize.text import TextMarker
from ematix_flow.spec.normalize.time import DateTrunc, ParseDate, ParseTimestamp, ToTimezone
from ematix_flow.spec.normalize.value import Default, NotNullOr, NullIf, ParseBool
from ematix_flow.spec.table import Column
from ematix_flow.sqltext.markers.expression import VALUE, read_expression
from ematix_flow.sqltext.markers.nodes import Node, Template
from ematix_flow.sqltext.markers.number import (
    clamp_templates,
    parse_int_templates,
    parse_numeric_templates,
    round_templates,
)
from ematix_flow.sqltext.markers.text import phone_templates, text_templates
from ematix_flow.sqltext.markers.time import (
    date_trunc_templates,
    parse_date_templates,
    parse_timestamp_templates,
    to_timezone_templates,
)
from ematix_flow.sqltext.markers.value import (
    default_templates,
    not_null_or_templates,
    nullif_templates,
    parse_bool_templates,
)


def templates(  # noqa: C901, PLR0912  # one line for each marker
    marker: Marker, column: Column, family: Family, names: Collection[str]
) -> tuple[Template, ...]:
    """Return the steps of *marker* on *column* for values of *family*.

    Only the last step makes NULL of a value that is not, or every one after it keeps NULL.
    """
    match marker:
        case TextMarker():
            return text_templates(marker)
        case PhoneNormalize():
            return phone_templates(marker)
        case ParseInt():
            return parse_int_templates(marker)
        case ParseNumeric():
            return parse_numeric_templates(marker, column.type)
        case Round():
            return round_templates(marker)
        case Clamp():
            return clamp_templates(marker)
        case ParseDate():
            return parse_date_templates(marker)
        case ParseTimestamp():
            return parse_timestamp_templates(marker)
        case ToTimezone():
            return to_timezone_templates(marker, family)
        case DateTrunc():
            return date_trunc_templates(marker, family)
        case ParseBool():
            return parse_bool_templates(marker)
        case Default():
            return default_templates(marker)
        case NullIf():
            return nullif_templates(marker)
        case NotNullOr():
            return not_null_or_templates(marker)
        case Expression():
            expression = read_expression(marker, column.name, names)
            return (lambda value: _filled(expression, value),)
        case _:
            raise AssertionError(marker)


def _filled(expression: Node, value: Node) -> Node:
    def fill(node: Node) -> Node:
        is_value = isinstance(node, exp.Column) and node.name == VALUE and not node.table
        return value.copy() if is_value else node

    return expression.copy().transform(fill)
