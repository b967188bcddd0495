"""Windows over incremental columns: their texts, their SQL, and the rows between them."""

import re
import sqlite3
from contextlib import closing
from datetime import timedelta

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ematix_flow._base.location import Location
from ematix_flow.errors import PlanError, QueryError
from ematix_flow.plan.windows import windows_of
from ematix_flow.spec.cursor import Cursor, CursorKind
from ematix_flow.spec.pipeline import Pipeline, ReadOptions
from ematix_flow.spec.window import Window
from ematix_flow.sqltext.over_rows import over_rows
from ematix_flow.sqltext.split import statements_in
from ematix_flow.sqltext.window import within

HERE = Location("pipelines.py", 1)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("42", "integer 42"),
        ("-7", "integer -7"),
        ("1.50", "decimal 1.50"),
        ("2026-03-01", "date 2026-03-01"),
        ("2026-03-01T09:00", "timestamp 2026-03-01 09:00:00.000000"),
        ("2026-03-01T09:00+02:00", "timestamptz 2026-03-01 07:00:00.000000"),
        ("2026-99-99", "text 2026-99-99"),
        ("text 42", "text 42"),
        ("integer:10000000000000000042", "integer 42"),
        ("integer:09999999999999999958", "integer -42"),
        ("text:c3a4", "text ä"),
        ("decimal:0999999.49~", "decimal -0.50"),
        ("double:1500" + "1.5000000000000000", "double 1.5"),
    ],
)
def test_a_value_is_read_as_it_is_written_kept_or_told(written, told):
    assert str(Cursor.read(written)) == told
    assert str(Cursor.read(told)) == told


@given(st.text())
def test_text_comes_back_whatever_it_says(text):
    cursor = Cursor(CursorKind.TEXT, text)
    assert Cursor.read(str(cursor)) == cursor
    [bound] = Window(column="c", start=f"> {cursor}").bounds
    assert bound.cursor == cursor


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("9", "10", True),
        ("10", "9", False),
        ("1.5", "1.50", True),
        # As doubles these two would be one.
        ("9007199254740993", "9007199254740992", False),
        ("2026-01-01", "2026-01-01T00:00:00", True),
        ("2026-01-01T00:00:01", "2026-01-01", False),
        ("2026-01-01T10:00:00+02:00", "2026-01-01T08:00:00+00:00", True),
        ("a", "b", True),
        ("b", "a", False),
    ],
)
def test_values_are_compared_as_what_they_are(one, other, expected):
    first, second = Cursor.read(one), Cursor.read(other)
    assert first.compares_with(second)
    assert first.is_at_most(second) is expected


@pytest.mark.parametrize(("one", "other"), [("1", "2026-01-01"), ("a", "1"), ("2026-01-01", "a")])
def test_a_number_a_time_and_a_text_do_not_compare(one, other):
    assert not Cursor.read(one).compares_with(Cursor.read(other))


@pytest.mark.parametrize(
    ("watermark", "lookback", "said"),
    [
        ("5", timedelta(hours=2), "an integer column takes a whole number, not '2h'"),
        ("2026-01-01", 10, "a date column takes a duration ('2h'), not 10"),
        ("a", 10, "there is nothing to count back from text ('a')"),
    ],
)
def test_a_lookback_in_another_measure_is_refused(watermark, lookback, said):
    with pytest.raises(ValueError, match=rf"^{re.escape(said)}$"):
        Cursor.read(watermark).minus(lookback)


def test_lookback_goes_back_in_the_columns_own_measure():
    window = Window.above("c", "date:2026-03-02 00:00:00.000000", timedelta(hours=30))
    assert str(window) == "c > date 2026-02-28"
    assert Window.of("c", window.ends).bounds == window.bounds
    numbers = Window.above("c", "integer:10000000000000000005", 10)
    assert str(numbers) == "c > integer -5"


def test_bare_bounds_of_people_are_half_open_and_watermarks_are_not():
    assert Window.between("c", "1", "5").ends == (">= integer 1", "< integer 5")
    assert str(Window.of("c", ("1", "5"))) == "c >= integer 1 and c < integer 5"
    marks = ("integer:10000000000000000001", "integer:10000000000000000005")
    assert str(Window.of("c", marks)) == "c > integer 1 and c <= integer 5"


@pytest.mark.proves("backfill")
@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-50, 50)), st.integers(-50, 50), st.integers(7, 30))
def test_parts_that_follow_each_other_have_every_row_once(values, start, size):
    inside = []
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE t (c INTEGER)")
        database.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
        for first in range(start, 60, size):
            window = Window.between("c", str(first), str(first + size))
            query = within("SELECT c FROM t", window, "sqlite")
            inside += [value for (value,) in database.execute(query)]
    assert sorted(inside) == sorted(value for value in values if value >= start)


def test_the_query_stays_as_it_was_written():
    query = 'WITH a AS (SELECT 1 AS "C d")\nSELECT * FROM a -- all of it'
    window = Window.of("c d", ("0", None))
    wrapped = within(query, window, "duckdb", "C d")
    assert query in wrapped
    assert duckdb.sql(wrapped).fetchall() == [(1,)]
    assert within(query, Window(column="c d"), "duckdb") == query


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        ("integer -3", "-2"),
        ("decimal 1.5", "1.6"),
        ("double 1e-07", "2e-7::DOUBLE"),
        ("date 2026-03-01", "DATE '2026-03-02'"),
        ("timestamp 2026-03-01 09:00:00.000001", "TIMESTAMP '2026-03-01 09:00:00.000002'"),
        (
            "timestamptz 2026-03-01 09:00:00.000000",
            "TIMESTAMPTZ '2026-03-01 10:00:00.000001+01:00'",
        ),
        ("text it's", "'it''t'"),
    ],
)
def test_the_bound_is_a_value_of_its_type(value, literal):
    for start, rows in ((f"> {value}", 1), (f">= {value}", 1)):
        query = within(f"SELECT {literal} AS c", Window(column="c", start=start), "duckdb")
        assert len(duckdb.sql(query).fetchall()) == rows
    query = within(f"SELECT {literal} AS c", Window(column="c", end=f"<= {value}"), "duckdb")
    assert duckdb.sql(query).fetchall() == []


@pytest.mark.proves("strictly-after")
@pytest.mark.parametrize(
    ("watermark", "landed", "new"),
    [
        ("integer:10000000000000000042", "42", "43"),
        ("decimal:1000001.50", "1.50", "1.51"),
        ("double:15001.5000000000000000", "1.5::DOUBLE", "1.5000001::DOUBLE"),
        ("date:2026-03-01 00:00:00.000000", "DATE '2026-03-01'", "DATE '2026-03-02'"),
        (
            "timestamp:2026-03-01 09:00:00.000000",
            "TIMESTAMP '2026-03-01 09:00:00'",
            "TIMESTAMP '2026-03-01 09:00:00.000001'",
        ),
        (
            "timestamptz:2026-03-01 09:00:00.000000",
            "TIMESTAMPTZ '2026-03-01 10:00:00+01:00'",
            "TIMESTAMPTZ '2026-03-01 10:00:00.000001+01:00'",
        ),
        ("text:c3a4", "'ä'", "'ä '"),
    ],
)
def test_a_row_equal_to_the_watermark_is_not_read_again(watermark, landed, new):
    window = windows_of(pipeline_over("c"), (watermark,), None, again=False).shared
    source = f"SELECT {landed} AS c UNION ALL SELECT {new}"
    read = f"SELECT c::VARCHAR FROM ({within(source, window, 'duckdb')})"
    assert duckdb.sql(read).fetchall() == duckdb.sql(f"SELECT ({new})::VARCHAR").fetchall()


def test_sqlites_times_are_left_out_by_their_day_at_most():
    window = Window(column="c", start="> timestamp 2026-03-05 09:00:00.000000")
    with closing(sqlite3.connect(":memory:")) as database:
        for value, kept in (
            ("'2026-03-05T10:00'", True),
            ("'2026-03-04 23:00:00-12:00'", True),
            ("'2026-03-01 10:00:00'", False),
            ("1772704800", True),
        ):
            found = database.execute(within(f"SELECT {value} AS c", window, "sqlite")).fetchall()
            assert bool(found) is kept, value


def test_sql_over_the_rows_reads_them_under_another_name():
    sql = "  SELECT source.a, 'source' AS b FROM source JOIN `Source` AS s USING (a) -- source\n;"
    assert over_rows(sql, "rows_1", HERE) == (
        "SELECT source.a, 'source' AS b FROM rows_1 AS source JOIN rows_1 AS s USING (a) "
        "-- source\n"
    )
    with pytest.raises(QueryError, match="does not read source"):
        over_rows("SELECT 1", "rows_1", HERE)
    with pytest.raises(QueryError, match="has a WITH source"):
        over_rows("WITH source AS (SELECT 1) SELECT * FROM source", "rows_1", HERE)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("DELETE FROM a", ("DELETE FROM a",)),
        ("INSERT INTO a VALUES (';'); -- x;\nDELETE FROM b;", 2),
        (";;", ()),
        ("SELECT 'unclosed", ("SELECT 'unclosed",)),
    ],
)
def test_statements_are_split_where_they_end(text, parts):
    found = statements_in(text, "duckdb")
    assert found == parts if isinstance(parts, tuple) else len(found) == parts


def pipeline_over(column, lookback=None):
    read = ReadOptions(incremental_column=column, lookback=lookback)
    return Pipeline(name="p", targets=(), function=print, location=HERE, read=read)


@pytest.mark.proves("several-targets")
def test_what_is_read_is_what_the_last_target_lacks():
    one, two = "integer:10000000000000000001", "integer:10000000000000000002"
    found = windows_of(pipeline_over("c"), (two, one), None, again=False)
    assert str(found.shared) == "c > integer 1"
    assert [str(each) for each in found.own] == ["c > integer 2", "None"]
    assert windows_of(pipeline_over("c"), (two, None), None, again=False).shared.bounds == ()
    # A run that is tried again reads the same, but a target takes nothing twice.
    again = windows_of(pipeline_over("c"), (two, one), ("> integer 1", None), again=False)
    assert again == found
    # A part of the past is for all of them.
    past = windows_of(pipeline_over("c"), (two, one), ("0", "9"), again=True)
    assert past.own == (None, None)
    with pytest.raises(PlanError, match="ends before it begins"):
        windows_of(pipeline_over("c"), (one,), ("9", "0"), again=True)
    # Also within a day.
    backwards = ("2026-01-01T10:00", "2026-01-01T09:00")
    with pytest.raises(PlanError, match="ends before it begins"):
        windows_of(pipeline_over("c"), (one,), backwards, again=True)
    with pytest.raises(PlanError, match="has no incremental_column"):
        windows_of(pipeline_over(None), (None,), ("0", "9"), again=True)
    # That of a run which died before the column was taken away.
    told = r"had begun to read > integer 1,.*any more[\s\S]*--new"
    with pytest.raises(PlanError, match=told):
        windows_of(pipeline_over(None), (None,), ("> integer 1", None), again=False)


@pytest.mark.proves("adopt-open-run")
def test_a_target_that_came_after_a_crash_gets_all_rows():
    marks = ("integer:10000000000000000005", None)
    adopted = ("> integer 5", None)
    found = windows_of(pipeline_over("c"), marks, adopted, again=False)
    assert found.shared.bounds == ()
    assert [str(each) for each in found.own] == ["c > integer 5", "None"]
    same = windows_of(pipeline_over("c"), marks[:1], adopted, again=False)
    assert str(same.shared) == "c > integer 5"
    # A part of the past is what was asked for, whatever the targets have.
    part = windows_of(pipeline_over("c"), marks, (">= integer 3", "< integer 4"), again=True)
    assert str(part.shared) == "c >= integer 3 and c < integer 4"
