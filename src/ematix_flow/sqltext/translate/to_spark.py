"""All rules on the way to Spark, one table per dialect that is fully known."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ematix_flow.sqltext.translate import (
    aggregates,
    arithmetic,
    arrays,
    casts,
    dates,
    patterns,
    strings,
)
from ematix_flow.sqltext.translate.build import Rule, Rules
from ematix_flow.sqltext.translate.called import by_name
from ematix_flow.sqltext.translate.json_paths import with_json
from ematix_flow.sqltext.translate.names import folded
from ematix_flow.sqltext.translate.shape import SHAPE, star_in_order

_COMMON: dict[type[exp.Expr], Rule] = {
    **SHAPE,
    **arithmetic.COMMON,
    **strings.COMMON,
    **dates.COMMON,
    **arrays.COMMON,
    **aggregates.COMMON,
}

TO_SPARK: Mapping[str, Rules] = {
    "duckdb": with_json(
        {
            **_COMMON,
            **arithmetic.DUCKDB,
            **casts.DUCKDB,
            **patterns.DUCKDB,
            **strings.DUCKDB,
            **dates.DUCKDB,
            **arrays.DUCKDB,
            **aggregates.DUCKDB,
            **by_name("duckdb"),
            exp.Select: star_in_order,
        }
    ),
    "postgres": with_json(
        {
            **_COMMON,
            **arithmetic.POSTGRES,
            **casts.POSTGRES,
            **patterns.POSTGRES,
            **dates.POSTGRES,
            **arrays.POSTGRES,
            **aggregates.POSTGRES,
            **by_name("postgres"),
            exp.Identifier: folded,
        }
    ),
    "datafusion": with_json(
        {
            **_COMMON,
            **arithmetic.DATAFUSION,
            **casts.DATAFUSION,
            **patterns.DATAFUSION,
            **dates.DATAFUSION,
            **arrays.DATAFUSION,
            **aggregates.DATAFUSION,
            **by_name("datafusion"),
            exp.Select: star_in_order,
            exp.Identifier: folded,
        }
    ),
}
