"""Casting and judging, against plain Python on random values."""

from decimal import Decimal, InvalidOperation

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ematix_flow._base.location import Location
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN, Contract, RuleKind
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import (
    UUID,
    BigInt,
    Date,
    Double,
    Float,
    Integer,
    Numeric,
    SmallInt,
    String,
    Text,
    Timestamp,
)
from ematix_flow.validate.contract import judge


def judged(spark, kind, values, sql_type, *, nullable=True):
    """Judge a one-column table; return (value, broken rule's kind, offending value) per row."""
    table = Table(
        name=TableName(name="t"),
        location=Location("x.py", 1),
        columns=(
            Column(name="n", type=BigInt(), primary_key=True),
            Column(name="v", type=kind, nullable=nullable),
        ),
    )
    contract = Contract.of(table)
    frame = spark.createDataFrame(list(enumerate(values)), f"n BIGINT, v {sql_type}")
    rows = judge(frame, contract).orderBy("n").collect()
    return [
        (
            row["v"],
            contract.rule(row[RULE_COLUMN]).kind if row[RULE_COLUMN] else None,
            row[VALUE_COLUMN],
        )
        for row in rows
    ]


# One Spark job per example, so many values per example, few examples, and no shrinking.
few = settings(
    max_examples=5,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
NUMBERS = st.one_of(
    st.integers(-(2**65), 2**65).map(str),
    st.decimals(
        allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9
    ).map(str),
    st.sampled_from(["", " ", "1e3", "0x10", "NaN", "٣", "1,5", "+7", "-0", "00012", "1.50"]),
)


@few
@given(st.lists(NUMBERS, min_size=30, max_size=60))
def test_text_becomes_a_decimal_exactly_or_is_refused(spark, values):
    for value, (got, broken, shown) in zip(
        values, judged(spark, Numeric(12, 2), values, "STRING"), strict=True
    ):
        exact = _decimal(value)
        fits = exact is not None and exact == round(exact, 2) and abs(exact) < Decimal(10) ** 10
        assert (broken is None) == fits, (value, got)
        if fits:
            assert got == exact
        else:
            assert (broken, shown) == (RuleKind.TYPE, value)


def _decimal(text):
    """What Spark reads as a number: digits of any script, an exponent, blanks around."""
    try:
        found = Decimal(text.strip())
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


@few
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=30, max_size=60))
def test_integers_narrow_exactly_or_are_refused(spark, values):
    for kind, bits in ((SmallInt(), 16), (Integer(), 32)):
        edges = [2 ** (bits - 1), 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), -(2 ** (bits - 1)) - 1]
        tried = [*values, *edges]
        for value, (got, broken, _) in zip(
            tried, judged(spark, kind, tried, "BIGINT"), strict=True
        ):
            fits = -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)
            assert (got, broken) == ((value, None) if fits else (got, RuleKind.TYPE))


@few
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=30, max_size=60))
def test_a_double_that_cannot_hold_an_integer_is_refused(spark, values):
    tried = [*values, 2**53, 2**53 + 1]
    for value, (_, broken, _) in zip(tried, judged(spark, Double(), tried, "BIGINT"), strict=True):
        assert (broken is None) == (int(float(value)) == value)


@pytest.mark.parametrize(
    ("kind", "sql_type", "value", "breaks"),
    [
        (Numeric(10, 2), "DOUBLE", 0.1, False),
        (Numeric(10, 2), "DOUBLE", 0.125, True),
        (Numeric(10, 2), "DOUBLE", float("nan"), True),
        (Numeric(10, 2), "DOUBLE", float("inf"), True),
        (Numeric(10, 2), "DECIMAL(10,4)", Decimal("1.2300"), False),
        (Numeric(10, 2), "DECIMAL(10,4)", Decimal("1.2345"), True),
        (Float(), "DOUBLE", 0.5, False),
        (Float(), "DOUBLE", 0.1, True),
        (Date(), "STRING", "2026-02-29", True),
        (Date(), "STRING", "2024-02-29", False),
        (Date(), "STRING", "29/02/2024", True),
        (Timestamp(), "STRING", "2026-03-01 10:00:00", False),
        (Timestamp(), "STRING", "soon", True),
        (Text(), "BIGINT", 7, False),
        (String(3), "STRING", "äöü", False),
        (String(3), "STRING", "abcd", True),
        (UUID(), "STRING", "0b9f6d3e-6a55-4a0e-8a51-4bb2f7f9e111", False),
        (UUID(), "STRING", "0b9f6d3e", True),
        (Text(), "STRING", None, False),
    ],
)
def test_single_values(spark, kind, sql_type, value, breaks):
    [(_, broken, _)] = judged(spark, kind, [value], sql_type)
    assert (broken is not None) == breaks


def test_a_time_of_day_is_not_dropped_silently(spark):
    table = Table(
        name=TableName(name="t"),
        location=Location("x.py", 1),
        columns=(Column(name="v", type=Date()),),
    )
    frame = spark.sql(
        "SELECT timestamp_ntz'2026-03-01 00:00:00' AS v "
        "UNION ALL SELECT timestamp_ntz'2026-03-01 10:00:00'"
    )
    verdicts = [row[RULE_COLUMN] for row in judge(frame, Contract.of(table)).collect()]
    assert sorted(verdicts, key=str) == [1, None]


def test_null_in_a_not_null_column_is_its_own_rule(spark):
    [(_, broken, value)] = judged(spark, BigInt(), [None], "BIGINT", nullable=False)
    assert (broken, value) == (RuleKind.NOT_NULL, None)


def test_judging_adds_no_pass_over_the_data(spark):
    """One scan in, one projection: no shuffle, no second read."""
    table = Table(
        name=TableName(name="t"),
        location=Location("x.py", 1),
        columns=(Column(name="v", type=BigInt()),),
    )
    frame = judge(spark.range(10).selectExpr("CAST(id AS STRING) AS v"), Contract.of(table))
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert "Exchange" not in plan
    assert plan.count("Range") == 1
