"""Queries in another dialect: their text, and the errors that say what to write instead.

That the translations give the same rows is shown by tests/spark/dialects.
"""

from __future__ import annotations

import pytest
from sqlglot import exp

from ematix_flow.errors import DialectError, QueryError, UnknownName
from ematix_flow.sqltext.dialect import FULL, known_dialect, parse_query
from ematix_flow.sqltext.function_names import functions
from ematix_flow.sqltext.translate import translate
from tests.spark.dialects.pairs import Pair, pairs

WHERE = "pipelines.py:7"


def to_spark(sql: str, read: str = "duckdb", **more: frozenset[str]) -> str:
    query = parse_query(sql, dialect=read, where=WHERE)
    return translate(query, read=read, write="spark", where=WHERE, **more)


def refusal(sql: str, read: str = "duckdb", write: str = "spark") -> DialectError:
    query = parse_query(sql, dialect=read, where=WHERE)
    with pytest.raises(DialectError) as caught:
        translate(query, read=read, write=write, where=WHERE)
    return caught.value


@pytest.mark.parametrize(
    ("name", "known"),
    [("Spark", "spark"), ("postgresql", "postgres"), ("sparksql", "spark"), ("bigquery",) * 2],
)
def test_a_dialect_is_known_by_its_usual_names(name: str, known: str) -> None:
    assert known_dialect(name, WHERE) == known


def test_an_unknown_dialect_says_what_is_near() -> None:
    with pytest.raises(UnknownName) as caught:
        known_dialect("duckbd", WHERE)
    assert "unknown SQL dialect 'duckbd'; did you mean 'duckdb'?" in str(caught.value)
    assert str(caught.value).startswith(WHERE)


def test_full_dialects_are_known() -> None:
    assert all(known_dialect(name, WHERE) == name for name in FULL)


def test_the_same_dialect_keeps_the_text_as_written() -> None:
    written = "select  a ,b from t -- as I like it"
    assert to_spark(written, read="spark") == written


def test_translating_leaves_the_query_alone() -> None:
    query = parse_query("select a / b, x::int from t order by 1", dialect="duckdb", where=WHERE)
    before = query.sql(dialect="duckdb")
    translate(query, read="duckdb", write="spark", where=WHERE)
    assert query.sql(dialect="duckdb") == before


@pytest.mark.parametrize(
    ("read", "written", "expected"),
    [
        ("duckdb", "select 7 // 2", "SELECT 7 DIV 2"),
        ("duckdb", "select a / b from t", "SELECT CAST(a AS DOUBLE) / CAST(b AS DOUBLE) FROM t"),
        ("duckdb", "select x from t order by x", "SELECT x FROM t ORDER BY x NULLS LAST"),
        ("postgres", "select 7 / 2", "SELECT 7 DIV 2"),
        ("postgres", "select Foo from T", "SELECT foo FROM t"),
        ("postgres", 'select "Foo" from t', "SELECT `Foo` FROM t"),
        ("datafusion", "select 1.5 + 1", "SELECT 1.5E0 + 1"),
        ("duckdb", "select l[1] from t", "SELECT GET(l, 0) FROM t"),
    ],
)
def test_text(read: str, written: str, expected: str) -> None:
    assert to_spark(written, read) == expected


def test_lateral_view_becomes_unnest_and_back() -> None:
    spark = "select k, x from t lateral view explode(l) u as x"
    query = parse_query(spark, dialect="spark", where=WHERE)
    text = translate(query, read="spark", write="postgres", where=WHERE)
    assert text == "SELECT k, x FROM t CROSS JOIN UNNEST(l) AS u(x)"
    back = parse_query(text, dialect="postgres", where=WHERE)
    assert (
        translate(back, read="postgres", write="spark", where=WHERE)
        == "SELECT k, x FROM t LATERAL VIEW EXPLODE(l) u AS x"
    )


def test_two_dialects_meet_at_spark() -> None:
    query = parse_query("select x from t order by x", dialect="duckdb", where=WHERE)
    text = translate(query, read="duckdb", write="postgres", where=WHERE)
    assert text == "SELECT x FROM t ORDER BY x"


@pytest.mark.proves("dialects")
def test_a_refusal_shows_the_fragment_the_reason_and_a_rewrite() -> None:
    error = refusal("select id,  Regexp_Replace( name ,'a','b' ) from t")
    assert isinstance(error, QueryError)
    assert str(error) == (
        "pipelines.py:7: `Regexp_Replace( name ,'a','b' )` cannot be translated to spark: "
        "only the first match is replaced here, and every one there\nHint: add the flag 'g'"
    )


@pytest.mark.proves("dialects")
@pytest.mark.parametrize(
    ("read", "written", "why", "hint"),
    [
        ("postgres", "select a / b from t", "depends on the columns' types", "CAST an operand"),
        ("postgres", "select avg(x) from t", "other digits", "DOUBLE PRECISION"),
        ("duckdb", "select list_distinct(l) from t", "NULLs", "filter the NULLs"),
        ("duckdb", "select t.* from t asof join u on t.a >= u.a", "ASOF", "ROW_NUMBER"),
        ("duckdb", "select * replace (1 as a) from t", "REPLACE", "EXCLUDE"),
        ("postgres", "select date '2024-01-05'::text", "order of the two casts", "brackets"),
        ("postgres", 'select "A", a from t', "one name there", "another name"),
        ("duckdb", "select j ->> 'a.b' from t", "not a path", "'$.a.b'"),
        ("spark", "select a[0] from t", "NULL there", "get(array, 0)"),
    ],
)
def test_refused(read: str, written: str, why: str, hint: str) -> None:
    error = refusal(written, read, "duckdb" if read == "spark" else "spark")
    assert why in error.what
    assert hint in (error.hint or "")


@pytest.mark.proves("dialects")
def test_an_unknown_function_is_refused_unless_it_is_the_users_own() -> None:
    assert "my_score" in refusal("select my_score(x) from t").what
    assert to_spark("select my_score(x) from t", udfs=frozenset({"my_score"})) == (
        "SELECT my_score(x) FROM t"
    )


@pytest.mark.proves("dialects")
def test_every_kind_of_node_needs_a_rule() -> None:
    error = refusal("select array_slice(l, 1, 2) from t")
    assert "nobody has proven that it means the same in spark" in error.what
    assert 'dialect="spark"' in (error.hint or "")


def test_other_dialects_are_translated_as_sqlglot_does() -> None:
    assert to_spark("select `a` from `d.t`", "bigquery") == "SELECT `a` FROM `d`.`t`"


def test_other_dialects_do_not_pass_unknown_functions() -> None:
    error = refusal("select no_such_thing(a) from t", "bigquery")
    assert "there is no function no_such_thing" in error.what


@pytest.mark.proves("dialects")
def test_what_the_generator_would_leave_out_is_an_error() -> None:
    query = parse_query(
        "select sum(x) over (order by x rows between 1 preceding and current row exclude ties) "
        "from t",
        dialect="sqlite",
        where=WHERE,
    )
    with pytest.raises(DialectError, match="EXCLUDE"):
        translate(query, read="sqlite", write="spark", where=WHERE)


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres", "datafusion", "sqlite"])
def test_the_functions_of_an_engine_are_listed(dialect: str) -> None:
    assert {"abs", "coalesce", "sum"} & functions(dialect)


@pytest.mark.parametrize("pair", list(pairs())[::9], ids=str)
def test_the_corpus_parses_where_it_goes(pair: Pair) -> None:
    query = parse_query(pair.query, dialect=pair.read, where=WHERE)
    before = query.sql(dialect=pair.read)
    if pair.expected == "refused":
        assert refusal(pair.query, pair.read, pair.write).hint
    else:
        text = translate(query, read=pair.read, write=pair.write, where=WHERE)
        assert isinstance(parse_query(text, dialect=pair.write, where=WHERE), exp.Query)
    assert query.sql(dialect=pair.read) == before
