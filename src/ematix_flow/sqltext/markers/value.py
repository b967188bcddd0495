"""Markers for values of any kind as expressions."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.spec.normalize.time_format import spellings
from ematix_flow.spec.normalize.value import Default, NotNullOr, NullIf, ParseBool
from ematix_flow.sqltext.identifiers import column
from ematix_flow.sqltext.markers.nodes import Node, Template, case, is_in, literal, stripped, text


def parse_bool_templates(marker: ParseBool) -> tuple[Template, ...]:
    """Return the steps from a word to true or false; NULL for another word."""

    def meaning(value: Node) -> Node:
        return case(
            (is_in(value, _spelt(marker.true)), exp.Boolean(this=True)),
            (is_in(value, _spelt(marker.false)), exp.Boolean(this=False)),
        )

    return (stripped, meaning)


def default_templates(marker: Default) -> tuple[Template, ...]:
    """Return the one step that fills NULL."""
    return (lambda value: exp.Coalesce(this=value, expressions=[literal(marker.value)]),)


def nullif_templates(marker: NullIf) -> tuple[Template, ...]:
    """Return the one step that makes values NULL."""
    values = marker.values
    if len(values) == 1:
        return (lambda value: exp.Nullif(this=value, expression=literal(values[0])),)
    return (
        lambda value: case(
            (is_in(value, [literal(each) for each in values]), exp.Null()), otherwise=value
        ),
    )


def not_null_or_templates(marker: NotNullOr) -> tuple[Template, ...]:
    """Return the one step that looks at other columns."""
    return (
        lambda value: exp.Coalesce(
            this=value, expressions=[column(name) for name in marker.columns]
        ),
    )


def _spelt(words: tuple[str, ...]) -> list[Node]:
    every = dict.fromkeys(spelling for word in words for spelling in spellings(word))
    return [text(spelling) for spelling in every]
