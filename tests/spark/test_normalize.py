"""Markers on Spark, against plain Python on many values at once."""

from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest
from pyspark.sql import Row
from sqlglot import exp

from ematix_flow._base.location import Location
from ematix_flow.errors import ContractError
from ematix_flow.spec import normalize as m
from ematix_flow.spec.contract import Contract
from ematix_flow.spec.normalize.family import Family, family_of
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import (
    Array,
    BigInt,
    Date,
    Numeric,
    Struct,
    Text,
    Timestamp,
    TimestampTZ,
)
from ematix_flow.transform.normalize import normalize
from ematix_flow.validate.contract import judge
from ematix_flow.write.quarantine import set_aside
from ematix_flow.write.staging import require_clean, stage
from tests.unit.sqltext.marker_cases import CASES, drawn
from tests.unit.sqltext.marker_reference import expected

VALUES = 200
AT_ONCE = 30


def as_text(value):
    """How a value is handed to Spark: text, cast there."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return str(value).lower() if isinstance(value, bool) else str(value)


def spark_type(given):
    return exp.DataType.build(given).sql(dialect="spark")


def result_of(frame, table):
    """Collect, times as text: Python would move them into its own zone."""
    casts = {
        column.name: f"CAST(`{column.name}` AS STRING) AS `{column.name}`"
        for column in table.columns
        if family_of(column.type) in (Family.WALL_CLOCK, Family.INSTANT)
    }
    return frame.selectExpr(*(casts.get(name, f"`{name}`") for name in frame.columns)).collect()


def as_collected(value):
    match value:
        case datetime():
            text = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
            whole, _, fraction = text.isoformat(" ").partition(".")
            return f"{whole}.{fraction.rstrip('0')}" if fraction else whole
        case _:
            return value


def normalized(spark, cases):
    """Run all *cases* as columns of one table, in one job; return the table and its rows."""
    columns = tuple(
        Column(name=f"c{number}", type=case.kind, nullable=True, markers=case.markers)
        for number, case in enumerate(cases)
    )
    table = Table(
        name=TableName(name="t"),
        columns=(Column(name="n", type=BigInt(), primary_key=True), *columns),
        location=Location("x.py", 1),
    )
    values = [drawn(case.values, VALUES) for case in cases]
    rows = [
        (n, *(as_text(column[n]) if n < len(column) else None for column in values))
        for n in range(VALUES)
    ]
    names = ", ".join(f"c{number} STRING" for number in range(len(cases)))
    frame = spark.createDataFrame(rows, f"n BIGINT, {names}").selectExpr(
        "n",
        *(
            f"CAST(c{number} AS {spark_type(case.given)}) AS c{number}"
            for number, case in enumerate(cases)
        ),
    )
    found = result_of(normalize(frame, table), table)
    return table, sorted(found, key=lambda row: row["n"])


@pytest.fixture(scope="module")
def everything(spark):
    """The results of all cases. Several tables: one of ninety such columns is slow to compile."""
    jobs = [CASES[start : start + AT_ONCE] for start in range(0, len(CASES), AT_ONCE)]
    return [normalized(spark, cases) for cases in jobs]


@pytest.mark.proves("markers", "on-failure")
@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.name for case in CASES])
def test_a_marker_means_what_python_says(everything, number):
    table, rows = everything[number // AT_ONCE]
    case, name = CASES[number], f"c{number % AT_ONCE}"
    rules = Contract.of(table).rules_on(name)
    failures = 0
    values = drawn(case.values, VALUES)
    for value, row in zip(values, rows, strict=False):
        wanted, failed = expected(case.markers, value, case.kind)
        flags = [row[rule.flag] for rule in rules]
        assert [flag for flag in flags if flag is not None] == ([value] if failed else []), value
        assert row[name] == as_collected(wanted), (value, wanted)
        failures += failed
    assert len(values) > 50 or case.given in ("boolean", "bigint")
    assert failures > 0 or not rules


def declared(*columns):
    return Table(name=TableName(name="t"), columns=columns, location=Location("x.py", 7))


def text_column(name, *markers, kind=None, nullable=True):
    return Column(name=name, type=kind or Text(), nullable=nullable, markers=markers)


def test_expressions_see_other_columns_as_their_markers_left_them(spark):
    table = declared(
        text_column("mail", m.sql("concat({}, '{}', MAIL, domain)")),
        text_column("domain", m.derive("lower(split(Address.host, '@')[0])"), m.upper()),
        Column(name="address", type=Struct(("host", Text())), nullable=True),
        text_column("fallback", m.not_null_or("other", "domain")),
        text_column("other", m.trim(), m.empty_to_null()),
    )
    frame = spark.sql(
        "SELECT 'x' AS Mail, named_struct('host', 'A@b') AS address, ' ' AS other, "
        "CAST(NULL AS STRING) AS fallback"
    )
    [row] = normalize(frame, table).collect()
    assert row.asDict() == {
        "mail": "x{}xA",
        "domain": "A",
        "address": Row(host="A@b"),
        "fallback": "A",
        "other": None,
    }


def test_arguments_reach_spark_as_they_are(spark):
    nasty = [
        "'; DROP TABLE t; --",
        "\\' OR 1=1",
        "${env:HOME}",
        "${system:user.dir}",
        "`",
        "a\n\tb",
    ]
    columns = [text_column(f"c{n}", m.default(text)) for n, text in enumerate(nasty)]
    # The same inside of the user's own SQL.
    columns.append(text_column("own", m.sql("coalesce({}, '${env:HOME}')")))
    frame = spark.sql(f"SELECT {', '.join(f'NULL AS {each.name}' for each in columns)}")
    [row] = normalize(frame, declared(*columns)).collect()
    assert list(row) == [*nasty, "${env:HOME}"]


def test_a_table_without_markers_is_left_alone(spark):
    frame = spark.range(1)
    assert normalize(frame, declared(Column(name="id", type=BigInt()))) is frame


@pytest.mark.proves("mistakes-told")
@pytest.mark.parametrize(
    ("column", "returned", "problem", "hint"),
    [
        (text_column("v", m.trim()), "1", "takes text", "CAST(v AS STRING) in the query"),
        (
            text_column("v", m.default(0), kind=BigInt()),
            "'1'",
            "takes a number",
            "put parse_int() or parse_numeric()",
        ),
        (
            text_column("v", m.parse_int(), kind=BigInt()),
            "1",
            "takes text",
            "leave the marker out",
        ),
        (
            text_column("v", m.to_timezone("UTC"), kind=Timestamp()),
            "DATE'2024-01-01'",
            "an instant",
            "CAST v in the",
        ),
    ],
)
def test_a_column_of_another_kind_is_refused_before_the_job(spark, column, returned, problem, hint):
    frame = spark.sql(f"SELECT {returned} AS v")
    with pytest.raises(ContractError, match="the query returns v as") as caught:
        normalize(frame, declared(column))
    assert problem in caught.value.what
    assert hint in caught.value.hint
    assert caught.value.where == "x.py:7"


def test_a_derived_column_is_not_in_the_query(spark):
    table = declared(text_column("a"), text_column("b", m.derive("upper(a)")))
    with pytest.raises(ContractError, match=r"returns b, but t computes it: derive\('upper"):
        normalize(spark.sql("SELECT 'x' AS a, 'y' AS b"), table)
    with pytest.raises(ContractError, match="does not return a, declared"):
        judge(normalize(spark.sql("SELECT 'x' AS c"), table), Contract.of(table))


QUALITY = declared(
    Column(name="id", type=BigInt(), primary_key=True),
    text_column(
        "age", m.trim(), m.parse_int(on_failure="quarantine"), kind=BigInt(), nullable=False
    ),
    text_column("born", m.parse_date("%d.%m.%Y"), kind=Date()),
)


def staged_rows(spark, rows, folder):
    frame = spark.createDataFrame(rows, "id BIGINT, age STRING, born STRING")
    contract = Contract.of(QUALITY)
    judged = judge(normalize(frame, QUALITY), contract)
    return stage(judged, folder, contract, counted=True), contract


@pytest.mark.proves("on-failure")
def test_what_a_marker_cannot_read_stops_the_run_and_is_named(spark, tmp_path):
    staged, contract = staged_rows(
        spark, [(1, "7", "01.02.2024"), (2, "8", "30.02.2024"), (3, "x", "never")], tmp_path
    )
    with pytest.raises(ContractError, match="2 of 3 rows break") as caught:
        require_clean(staged, contract)
    lines = caught.value.details.splitlines()
    assert "  row id=2: born: '30.02.2024' is not a date like %d.%m.%Y" in lines
    # It breaks both: what stops the run is not hidden by what sets the row aside.
    assert "  row id=3: born: 'never' is not a date like %d.%m.%Y" in lines
    assert 'on_failure="null" or "quarantine"' in caught.value.hint


@pytest.mark.proves("on-failure")
def test_rows_are_set_aside_and_the_rest_goes_on(spark, tmp_path):
    rows = [(n, " x " if n % 10 == 0 else str(n), "01.02.2024") for n in range(100)]
    staged, contract = staged_rows(spark, rows, tmp_path / "staging")
    require_clean(staged, contract)
    kept_aside = tmp_path / "quarantine" / "load" / "run.parquet"
    done = set_aside(staged, contract, kept_aside)
    assert (done.rows, done.staged.rows, done.file) == (10, 90, kept_aside)
    good = pq.ParquetDataset(list(done.staged.files)).read().to_pylist()
    assert sorted(row["age"] for row in good) == [n for n in range(100) if n % 10]
    assert all(row["_flow_rule"] is None for row in good)
    bad = pq.read_table(kept_aside).to_pylist()
    assert sorted(row["id"] for row in bad) == list(range(0, 100, 10))
    assert bad[0]["_flow_value"] == " x "
    assert bad[0]["_flow_column"] == "age"
    assert bad[0]["_flow_marker"] == "parse_int(on_failure='quarantine')"
    assert bad[0]["_flow_problem"] == "age: ' x ' is not a whole number of 64 bits"
    assert "_flow_rule" not in bad[0]
    # Again, as a repeated run would: the same file, not a second one.
    assert set_aside(staged, contract, kept_aside).rows == 10
    assert [each.name for each in kept_aside.parent.iterdir()] == ["run.parquet"]


def test_nothing_is_written_where_nothing_is_set_aside(spark, tmp_path):
    staged, contract = staged_rows(spark, [(1, "1", None)], tmp_path / "staging")
    done = set_aside(staged, contract, tmp_path / "quarantine" / "run.parquet")
    assert (done.rows, done.file, done.staged) == (0, None, staged)
    assert not (tmp_path / "quarantine").exists()


def test_null_where_null_is_not_allowed_is_no_reason_to_set_aside(spark, tmp_path):
    staged, contract = staged_rows(spark, [(1, None, None)], tmp_path / "staging")
    with pytest.raises(ContractError) as caught:
        require_clean(staged, contract)
    assert "age is NULL, but declared NOT NULL" in caught.value.details


def test_the_rows_that_stay_keep_their_types(spark, tmp_path):
    table = declared(
        text_column("age", m.parse_int(on_failure="quarantine"), kind=BigInt()),
        Column(name="at", type=TimestampTZ(), nullable=True),
        Column(name="clock", type=Timestamp(), nullable=True),
        Column(name="price", type=Numeric(38, 3), nullable=True),
        Column(name="tags", type=Array(Text()), nullable=True),
    )
    contract = Contract.of(table)
    frame = spark.sql(
        "SELECT age, TIMESTAMP'0001-01-02 00:00:00Z' AS at, TIMESTAMP_NTZ'9999-12-31' AS clock, "
        "CAST('12345678901234567890.125' AS DECIMAL(38,3)) AS price, array('a', NULL) AS tags "
        "FROM VALUES ('1'), ('x') AS g (age)"
    )
    judged = judge(normalize(frame, table), contract)
    staged = stage(judged, tmp_path / "staging", contract, counted=True)
    done = set_aside(staged, contract, tmp_path / "aside.parquet")
    before = {pq.read_schema(file).remove_metadata() for file in staged.files}
    after = {pq.read_schema(file).remove_metadata() for file in done.staged.files}
    assert before == after
    rows = [spark.read.parquet(str(file)).drop("age") for file in (*done.staged.files, done.file)]
    names = ["at", "clock", "price", "tags"]
    shown = [frame.selectExpr(*(f"CAST({name} AS STRING)" for name in names)) for frame in rows]
    assert {tuple(row) for frame in shown for row in frame.collect()} == {
        ("0001-01-02 00:00:00", "9999-12-31 00:00:00", "12345678901234567890.125", "[a, null]")
    }
