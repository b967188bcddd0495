"""Casting and judging, against plain Python on random values."""

import struct
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ematix_flow._base.location import Location
from ematix_flow.errors import ContractError
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN, Contract, RuleKind
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import (
    UUID,
    Array,
    BigInt,
    Bytes,
    Date,
    Double,
    Float,
    Integer,
    Numeric,
    SmallInt,
    String,
    Struct,
    Text,
    Timestamp,
    TimestampTZ,
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
    require_exact(spark, Numeric(12, 2), values)


SCALED = st.integers(1, 38).flatmap(
    lambda precision: st.tuples(st.just(precision), st.integers(0, precision))
)


@st.composite
def near_the_edge(draw, precision, scale):
    """Numbers of about as many digits as the type keeps, before and after the point."""
    whole = draw(st.text("0123456789", min_size=0, max_size=precision - scale + 1))
    decimals = draw(st.text("0123456789", min_size=0 if whole else 1, max_size=scale + 2))
    zeros = "0" * draw(st.integers(0, 3))
    exponent = draw(st.sampled_from(["", "", "", "e0", "E-1", "e+1", "e-39", "e38"]))
    point = "." if decimals or draw(st.booleans()) else ""
    return draw(st.sampled_from(["", "-", "+"])) + whole + point + decimals + zeros + exponent


@pytest.mark.proves("values-refused")
@settings(few, max_examples=12)
@given(SCALED.flatmap(lambda ps: st.tuples(st.just(ps), st.lists(near_the_edge(*ps), min_size=40))))
def test_every_precision_is_exact(spark, sample):
    (precision, scale), values = sample
    require_exact(spark, Numeric(precision, scale), values)


def require_exact(spark, kind, values):
    """Text fits exactly when it is a number of the type; then it arrives as that number."""
    for value, (got, broken, shown) in zip(
        values, judged(spark, kind, values, "STRING"), strict=True
    ):
        exact = _decimal(value)
        fits = exact is not None and _fits(exact, kind)
        assert (broken is None) == fits, (kind, value, got)
        if fits:
            assert got == exact
        else:
            assert (broken, shown) == (RuleKind.TYPE, value)


def _decimal(text):
    """What a number is: ASCII digits, an exponent, blanks around."""
    try:
        found = Decimal(text.strip()) if text.isascii() else Decimal("NaN")
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _fits(exact, kind):
    scaled = Fraction(exact) * 10**kind.scale
    return scaled.denominator == 1 and abs(scaled) < 10**kind.precision


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


def test_a_uuid_has_one_spelling(spark):
    spelt = "0B9F6D3E-6a55-4A0E-8a51-4BB2F7F9E111"
    assert judged(spark, UUID(), [spelt, None], "STRING") == [
        (spelt.lower(), None, None),
        (None, None, None),
    ]


LOSSY = {
    Date(): ("2026", "2026-03", "2026-3-1", "2026-03-01 23:59", "2026-03-01 junk", "20260301"),
    Timestamp(): (
        *("2026-03-01 10:00:00+02:00", "2026-03-01T10:00:00Z", "2026-03-01 10:00:00.1234567"),
        *("10:00:00", "2026-03-01 10", "2026-03-01 24:00:00", "2026", "2026-02-29 10:00:00"),
    ),
    TimestampTZ(): (
        *("10:00:00", "10:00:00Z", "2026-03-01 10:00:00.1234567Z", "2026-03-01T10:00+99:00"),
        *("2026-03-01Z", "2026-03-01 10:00:00 Mars/Base", ""),
    ),
    Double(): (
        *("1e400", "-1e400", "1e-400", "9007199254740993", "9223372036854775807", "1d", "0x1"),
        *("18446744073709551617", ""),
    ),
    Float(): ("1e39", "1e-50", "16777217", "16777217.0", "1234567890123", "", "one"),
    Numeric(38, 2): ("1.005", "1e-400", "1e99999", "1e99", "", ".", "e3"),
    BigInt(): ("7.5", "1e3", "", "9223372036854775808"),
}


@pytest.mark.proves("values-refused")
@pytest.mark.parametrize("kind", LOSSY)
def test_text_that_would_be_stored_as_something_else(spark, kind):
    texts = LOSSY[kind]
    for text, (_, broken, shown) in zip(texts, judged(spark, kind, texts, "STRING"), strict=True):
        assert (broken, shown) == (RuleKind.TYPE, text)


def instant(*parts):
    return datetime(*parts, tzinfo=UTC)


EXACT = {
    Date(): {" 2026-03-01 ": date(2026, 3, 1), "0001-01-01": date(1, 1, 1)},
    Timestamp(): {
        "2026-03-01": datetime(2026, 3, 1),
        "2026-03-01T08:05": datetime(2026, 3, 1, 8, 5),
        "2026-03-01 08:05:09.5": datetime(2026, 3, 1, 8, 5, 9, 500000),
        "2026-03-01 08:05:09.123456000": datetime(2026, 3, 1, 8, 5, 9, 123456),
        "1899-01-02 03:04:05.678901": datetime(1899, 1, 2, 3, 4, 5, 678901),
        "9999-12-31 23:59:59.999999": datetime(9999, 12, 31, 23, 59, 59, 999999),
    },
    TimestampTZ(): {
        "2026-03-01T08:00:00Z": instant(2026, 3, 1, 8),
        "2026-03-01T12:00:00+01:00": instant(2026, 3, 1, 11),
        "2026-03-01 12:00:00.5-0130": instant(2026, 3, 1, 13, 30, 0, 500000),
        "2026-03-01 12:00:00+01": instant(2026, 3, 1, 11),
        "2026-03-01 12:00+01": instant(2026, 3, 1, 11),
        "2026-03-01 12:00:00": instant(2026, 3, 1, 12),
        "2026-03-01 12:00": instant(2026, 3, 1, 12),
        "2026-03-01": instant(2026, 3, 1),
        "0001-01-01 00:00:00+00:00": instant(1, 1, 1),
    },
    Double(): {
        "0.1": 0.1,
        "5e-324": 5e-324,
        "-0": 0.0,
        "-Infinity": float("-inf"),
        "9007199254740992": 2.0**53,
        "4611686018427387904": 2.0**62,
        "100000000000000000000": 1e20,
    },
    Float(): {"16777216": 2.0**24, "0.1": struct.unpack("f", struct.pack("f", 0.1))[0]},
    Bytes(): {" x ": b" x "},
    Numeric(38, 2): {
        "0e-400": 0,
        "1500e-3": Decimal("1.5"),
        "1.": 1,
        ".5": Decimal("0.5"),
        "9" * 36: Decimal("9" * 36),
    },
    BigInt(): {" +7 ": 7, "007": 7},
}


@pytest.mark.parametrize("kind", EXACT)
def test_text_that_says_exactly_what_is_stored(spark, kind):
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")  # must not matter
    try:
        verdicts = judge(
            spark.createDataFrame([(text,) for text in EXACT[kind]], "v STRING"),
            Contract.of(table_of(kind)),
        )
        if isinstance(kind, TimestampTZ):
            verdicts = verdicts.withColumn("v", verdicts["v"].cast("double"))
        rows = verdicts.collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    for (text, value), row in zip(EXACT[kind].items(), rows, strict=True):
        if isinstance(kind, TimestampTZ):
            value = (value - instant(1970, 1, 1)).total_seconds()  # noqa: PLW2901
        assert (row["v"], row[RULE_COLUMN]) == (value, None), text


def table_of(kind):
    return Table(
        name=TableName(name="t"),
        location=Location("x.py", 1),
        columns=(Column(name="v", type=kind, nullable=True),),
    )


@pytest.mark.parametrize(
    ("kind", "expression"),
    [
        (Array(BigInt()), "array('1', '2')"),
        (Array(BigInt()), "array(1, 2)"),
        (Array(Text()), "'[a]'"),
        (Struct(("a", BigInt())), "named_struct('a', '7')"),
        (Struct(("a", Text())), "named_struct('b', 'x')"),
        (Text(), "array('a')"),
        (Text(), "map('a', 1)"),
    ],
)
def test_arrays_and_structs_are_not_converted(spark, kind, expression):
    frame = spark.sql(f"SELECT {expression} AS v")
    with pytest.raises(ContractError, match=r"declares .*: arrays and structs are not converted"):
        judge(frame, Contract.of(table_of(kind)))


@pytest.mark.parametrize(
    ("kind", "expression", "breaks"),
    [
        (Array(BigInt()), "array(1L, 2L)", False),
        (Array(Numeric(4, 1)), "array(1.5BD)", None),
        (Array(String(3)), "array('abc', NULL)", False),
        (Array(String(3)), "array('abc', 'abcd')", True),
        (Array(Array(String(1))), "array(array('a'), array('b', 'cc'))", True),
        (Struct(("Zip", String(2)), ("n", BigInt())), "named_struct('Zip', 'ab', 'n', 1L)", False),
        (Struct(("Zip", String(2)), ("n", BigInt())), "named_struct('Zip', 'abc', 'n', 1L)", True),
    ],
)
def test_text_inside_of_arrays_and_structs_has_its_length(spark, kind, expression, breaks):
    frame = spark.sql(f"SELECT {expression} AS v")
    contract = Contract.of(table_of(kind))
    if breaks is None:
        with pytest.raises(ContractError):
            judge(frame, contract)
        return
    [row] = judge(frame, contract).collect()
    assert (row[RULE_COLUMN] is not None) == breaks
    if breaks:
        rule = contract.rule(row[RULE_COLUMN])
        assert "holds text longer than" in rule.describe(row[VALUE_COLUMN])


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


def test_a_wide_table_is_judged_too(spark):
    columns = tuple(Column(name=f"c{number}", type=BigInt()) for number in range(200))
    table = Table(name=TableName(name="wide"), location=Location("x.py", 1), columns=columns)
    frame = spark.range(1).selectExpr(*(f"CAST(id AS STRING) AS c{n}" for n in range(200)))
    [row] = judge(frame, Contract.of(table)).collect()
    assert (row["c199"], row[RULE_COLUMN]) == (0, None)
