"""The table of types: every type in every dialect, and back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ematix_flow._base.location import Location
from ematix_flow.errors import NotSupported
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import (
    DATA_TYPES,
    JSON,
    JSONB,
    UUID,
    Array,
    BigInt,
    Boolean,
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
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.type_names import (
    Held,
    held_as,
    json_columns,
    notes_of,
    type_name,
)
from ematix_flow.sqltext.type_table import DIALECTS
from ematix_flow.sqltext.type_texts import AnyNumeric, CoarseTime, read_type

HOSTILE = 'a"b`c;--'


def table(*columns, **more):
    return Table(name=TableName(name="t"), columns=columns, location=Location("x.py", 1), **more)


scalars = st.one_of(
    st.sampled_from(
        [kind() for kind in DATA_TYPES if kind not in (String, Numeric, Array, Struct)]
    ),
    st.integers(1, 2**31 - 1).map(String),
    st.integers(1, 38).flatmap(
        lambda precision: st.integers(0, min(precision, 30)).map(
            lambda scale: Numeric(precision, scale)
        )
    ),
)
names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
kinds = st.recursive(
    scalars,
    lambda inner: st.one_of(
        inner.map(Array),
        st.lists(st.tuples(names, inner), min_size=1, max_size=3, unique_by=lambda f: f[0]).map(
            lambda fields: Struct(*fields)
        ),
    ),
    max_leaves=5,
)


@pytest.mark.proves("type-table")
@pytest.mark.parametrize("dialect", DIALECTS)
@given(kind=kinds)
@settings(max_examples=40)
def test_every_type_has_a_name_in_every_dialect(dialect, kind):
    text = type_name(kind, dialect)
    # Nothing of the table's own notation is left open.
    if not isinstance(kind, Struct | Array):
        assert "{" not in text


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "delta", "iceberg", "postgres"])
@given(kind=kinds)
@settings(max_examples=40)
def test_a_name_is_read_back_as_the_type_it_stands_for(dialect, kind):
    meaning = read_type(type_name(kind, dialect), dialect)
    assert meaning is not None
    # Not always the declared type (JSON is a STRING on Spark), but one of the same name.
    assert read_type(type_name(meaning, dialect), dialect) == meaning


@pytest.mark.proves("hostile-names")
@pytest.mark.parametrize("kind", [Array(Struct((HOSTILE, Text))), Struct((HOSTILE, BigInt))])
@pytest.mark.parametrize("dialect", ["spark", "duckdb", "delta", "iceberg"])
def test_names_inside_of_a_struct_are_quoted(kind, dialect):
    grammar = "duckdb" if dialect == "duckdb" else "spark"
    assert quoted(HOSTILE, grammar) in type_name(kind, dialect)


@pytest.mark.proves("type-table")
@pytest.mark.parametrize(
    ("kind", "dialect", "expected"),
    [
        (Numeric(10, 2), "postgres", Held("NUMERIC(10,2)")),
        (String(3), "postgres", Held("VARCHAR(3)")),
        (Array(String(3)), "postgres", Held("VARCHAR(3)[]")),
        (
            String(10_485_761),
            "postgres",
            Held("TEXT", "as TEXT: the length is judged before the row is written"),
        ),
        (Array(TimestampTZ()), "postgres", Held("TIMESTAMP WITH TIME ZONE[]")),
        (
            Array(Array(BigInt())),
            "postgres",
            Held("JSONB", "as JSON"),
        ),
        (Array(JSON()), "postgres", Held("JSONB", "as JSON")),
        (Struct(("a", Text)), "mysql", Held("JSON", "as JSON")),
        (Array(Text()), "sqlite", Held("JSON_TEXT", "as JSON")),
        (JSON(), "postgres", Held("JSON")),
        (
            JSONB(),
            "postgres",
            Held("JSONB", "keys are reordered, and of duplicate keys the last is kept"),
        ),
        (
            Numeric(10, 2),
            "sqlite",
            Held("NUMERIC_TEXT(10,2)", "as canonical text: SQLite has no exact decimals"),
        ),
        (
            TimestampTZ(),
            "mysql",
            Held("DATETIME(6)", "as DATETIME(6) in UTC: a MySQL TIMESTAMP ends in 2038"),
        ),
        (SmallInt(), "iceberg", Held("INT", "as INT: Iceberg has no 16-bit integer")),
    ],
)
def test_what_is_unusual_is_said(kind, dialect, expected):
    assert held_as(Column(name="c", type=kind), dialect) == expected


EXACT = {
    "mysql": "CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin",
    "mariadb": "CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
}
AS_VARCHAR = "as VARCHAR(255), because it is a key"


@pytest.mark.parametrize("dialect", ["mysql", "mariadb"])
@pytest.mark.parametrize(
    ("kind", "name", "note"),
    [
        (Text(), "VARCHAR(255) {exact}", AS_VARCHAR),
        (String(20), "VARCHAR(20) {exact}", None),
        (Bytes(), "VARBINARY(255)", "as VARBINARY(255), because it is a key"),
        (UUID(), "CHAR(36) CHARACTER SET ascii COLLATE ascii_bin", "as text of 36 characters"),
    ],
)
def test_keys_of_mysql_have_a_length_and_tell_cases_and_blanks_apart(dialect, kind, name, note):
    held = held_as(Column(name="c", type=kind, primary_key=True), dialect)
    assert held == Held(name.format(exact=EXACT[dialect]), note)


@pytest.mark.proves("type-table")
def test_a_unique_column_and_a_merge_key_are_keys_too():
    declared = table(
        Column(name="a", type=Text()),
        Column(name="b", type=Text()),
        Column(name="c", type=Text()),
        merge_keys=("a",),
        unique_constraints=(("b",),),
    )
    assert notes_of(declared, "mysql") == (
        f"a (Text) {AS_VARCHAR}",
        f"b (Text) {AS_VARCHAR}",
    )
    assert notes_of(declared, "postgres") == ()


@pytest.mark.proves("types-survive")
@pytest.mark.parametrize(
    ("kind", "dialect", "key", "expected"),
    [
        (Numeric(38, 31), "mysql", False, "at most 30 digits after the point"),
        (String(800), "mysql", True, "at most 768 characters"),
        (JSON(), "postgres", True, "JSON cannot be a key in postgres"),
        (JSONB(), "mysql", True, "JSONB cannot be a key in mysql"),
        (Array(Text()), "duckdb", True, "Array[Text] cannot be a key in duckdb"),
    ],
)
def test_what_a_database_cannot_hold_is_an_error_that_names_the_column(
    kind, dialect, key, expected
):
    with pytest.raises(NotSupported) as caught:
        notes_of(table(Column(name="amount", type=kind, primary_key=key)), dialect)
    assert caught.value.what.startswith("column amount: ")
    assert expected in caught.value.what
    assert caught.value.hint


def test_arrays_and_structs_are_json_where_there_are_none():
    declared = table(
        Column(name="plain", type=Text()),
        Column(name="words", type=Array(Text())),
        Column(name="rows", type=Array(Struct(("a", Text)))),
        Column(name="one", type=Struct(("a", Text))),
    )
    assert json_columns(declared, "sqlite") == ("words", "rows", "one")
    assert json_columns(declared, "mysql") == ("words", "rows", "one")
    assert json_columns(declared, "postgres") == ("rows", "one")
    assert json_columns(declared, "duckdb") == json_columns(declared, "delta") == ()


@pytest.mark.proves("type-table")
@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "character varying(20)", String(20)),
        ("postgres", "character varying", Text()),
        ("postgres", "timestamp with time zone", TimestampTZ()),
        ("postgres", "timestamp without time zone", Timestamp()),
        ("postgres", "timestamp(3) with time zone", CoarseTime(3, zoned=True)),
        ("postgres", "numeric(10,2)", Numeric(10, 2)),
        ("postgres", "numeric(10)", Numeric(10, 0)),
        ("postgres", "numeric", AnyNumeric()),
        ("postgres", "numeric(50,2)", None),
        ("postgres", "int2", SmallInt()),
        ("postgres", "int4", Integer()),
        ("postgres", "int8", BigInt()),
        ("postgres", "real", Float()),
        ("postgres", "float8", Double()),
        ("postgres", "double precision", Double()),
        ("postgres", "bool", Boolean()),
        ("postgres", "bytea", Bytes()),
        ("postgres", "jsonb", JSONB()),
        ("postgres", "character(5)", None),
        ("postgres", "character varying(3)[]", Array(String(3))),
        ("postgres", "time without time zone", None),
        ("postgres", "tsvector", None),
        ("postgres", "public.mood", None),
        ("postgres", "", None),
        ("mysql", "int(11)", Integer()),
        ("mysql", "int(10) unsigned", None),
        ("mysql", "bigint(20)", BigInt()),
        ("mysql", "tinyint(1)", Boolean()),
        ("mysql", "tinyint(4)", None),
        ("mysql", "varchar(20)", String(20)),
        ("mysql", "text", String(16383)),
        ("mysql", "longtext", Text()),
        ("mysql", "decimal(10,2)", Numeric(10, 2)),
        ("mysql", "datetime(6)", Timestamp()),
        ("mysql", "datetime", CoarseTime(0, zoned=False)),
        ("mysql", "longblob", Bytes()),
        ("mysql", "enum('a','b')", None),
        ("duckdb", "DECIMAL(18,3)", Numeric(18, 3)),
        (
            "duckdb",
            'STRUCT(a INTEGER, "b c" VARCHAR[])',
            Struct(("a", Integer), ("b c", Array(Text))),
        ),
        ("duckdb", "INTEGER[3]", None),
        ("duckdb", "HUGEINT", None),
        ("duckdb", "TIMESTAMP_NS", None),
        ("sqlite", "NUMERIC_TEXT(10,2)", Numeric(10, 2)),
        ("sqlite", "TIMESTAMPTZ_TEXT", TimestampTZ()),
        ("sqlite", "FLOAT", Float()),
        ("sqlite", "varchar(9)", String(9)),
        ("sqlite", "", None),
        ("delta", "array<struct<a:int>>", Array(Struct(("a", Integer)))),
        ("iceberg", "timestamp_ntz", Timestamp()),
        ("spark", "timestamp", TimestampTZ()),
        ("spark", "date", Date()),
        ("postgres", "ARRAY", None),
    ],
)
def test_types_are_read_as_databases_report_them(dialect, text, expected):
    assert read_type(text, dialect) == expected
