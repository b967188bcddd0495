"""Which of Spark's own functions make no single value of a single row.

Kept as a list because declaring a table must not start Spark.
"""

from __future__ import annotations

# Aggregates, window functions and generators.
_OVER_ROWS = """
    any any_value approx_count_distinct approx_percentile approx_top_k
    approx_top_k_accumulate approx_top_k_combine array_agg avg bit_and bit_or bit_xor
    bitmap_and_agg bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_list
    collect_set corr count count_if count_min_sketch covar_pop covar_samp cume_dist
    dense_rank every explode explode_outer first first_value grouping grouping_id
    histogram_numeric hll_sketch_agg hll_union_agg inline inline_outer kll_merge_agg_bigint
    kll_merge_agg_double kll_merge_agg_float kll_sketch_agg_bigint kll_sketch_agg_double
    kll_sketch_agg_float kurtosis lag last last_value lead listagg max max_by mean median
    min min_by mode nth_value ntile percent_rank percentile percentile_approx
    percentile_cont percentile_disc posexplode posexplode_outer rank regr_avgx regr_avgy
    regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy row_number
    skewness some stack std stddev stddev_pop stddev_samp string_agg sum
    theta_intersection_agg theta_sketch_agg theta_union_agg try_avg try_sum var_pop var_samp
    variance
"""
SPARK_OVER_ROWS = frozenset(_OVER_ROWS.split())
