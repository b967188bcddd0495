"""Markers on columns: what is read, and every mistake with its line and its remedy."""

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated

import pytest

from ematix_flow._base.location import Location
from ematix_flow.declare.columns import columns_of, natural_key, pk
from ematix_flow.errors import DeclarationError
from ematix_flow.spec import normalize as m
from ematix_flow.spec.types import (
    UUID,
    Array,
    Boolean,
    Bytes,
    Date,
    Double,
    Integer,
    Numeric,
    String,
    Text,
    Timestamp,
    TimestampTZ,
)

HERE = Location("tables.py", 12)


def declare(**annotations):
    return columns_of(type("Orders", (), {"__annotations__": annotations}), HERE)


def test_markers_are_read_in_their_order():
    [email, name] = declare(
        email=Annotated[Text, natural_key(), m.trim(), m.lower()], name=Annotated[Text, pk()]
    )
    assert email.markers == (m.trim(), m.lower())
    assert email.natural_key
    assert name.markers == ()


def test_every_marker_of_the_surface_is_there():
    named = {name for name in m.__all__ if name.islower()}
    assert named == set(m.FACTORIES)
    assert len(m.FACTORIES) == 24


GOOD = {
    "a number from text": Annotated[Integer, m.trim(), m.nullif("N/A"), m.parse_int()],
    "a parsed number, rounded": Annotated[Integer, m.parse_numeric(decimal=","), m.round()],
    "a wall clock from an instant": Annotated[
        Timestamp, m.parse_timestamp("%Y-%m-%dT%H:%M%z"), m.to_timezone("Europe/Berlin")
    ],
    "an id": Annotated[UUID, m.trim(), m.lower()],
    "anything after sql": Annotated[Bytes | None, m.sql("unhex({})")],
    "bytes have a default by sql": Annotated[Array[Text], m.sql("coalesce({}, array())")],
    "a float for a float": Annotated[Double, m.default(0.5)],
}


@pytest.mark.parametrize("annotation", GOOD.values(), ids=GOOD)
def test_markers_that_fit(annotation):
    [column] = declare(v=annotation)
    assert column.markers


MISFITS = [
    (Annotated[Integer, m.trim()], "trim() takes text, but Integer is a number", "add parse_int()"),
    (Annotated[Date, m.lower()], "lower() takes text, but Date is a date", "add parse_date(...)"),
    (Annotated[Bytes, m.trim()], "trim() takes text, but Bytes is bytes", ""),
    (Annotated[Text, m.round(2)], "round(digits=2) takes a number, but Text is text", ""),
    (Annotated[Text, m.parse_int()], "parse_int() leaves a number, but the column is", ""),
    (
        Annotated[Integer, m.parse_int(), m.trim()],
        "trim() takes text, but after parse_int() it is a number",
        "",
    ),
    (
        Annotated[TimestampTZ, m.parse_timestamp("%Y-%m-%d")],
        "leaves a timestamp without a zone, but the column is declared TimestampTZ",
        'zone="UTC"',
    ),
    (
        Annotated[Timestamp, m.parse_timestamp("%Y-%m-%d", zone="UTC")],
        "leaves an instant (a timestamp with a zone), but the column is declared Timestamp",
        'add to_timezone("UTC")',
    ),
    (
        Annotated[TimestampTZ, m.to_timezone("UTC")],
        "to_timezone('UTC') leaves a timestamp without a zone",
        "",
    ),
    (Annotated[Date, m.date_trunc("hour")], "date_trunc('hour') takes a timestamp", ""),
    (Annotated[Date, m.parse_bool()], "leaves true or false, but the column is declared Date", ""),
    (Annotated[Integer, m.default("x")], "default('x') takes text, but Integer is a number", ""),
    (Annotated[Boolean, m.nullif(0)], "nullif(0) takes a number, but Boolean is true or", ""),
    (Annotated[Integer, m.default(True)], "default(True) takes true or false", ""),
    (Annotated[String[2], m.default("abc")], "'abc' is longer than String[2]", ""),
    (Annotated[Numeric[5, 2], m.default(0.1)], "0.1 is a float, which is not exact", ""),
    (Annotated[Integer, m.clamp(max=0.5)], "0.5 is a float, which is not exact", ""),
    (Annotated[Integer, m.default(2**31)], "2147483648 does not fit Integer", ""),
    (Annotated[Numeric[5, 2], m.clamp(max=1000)], "1000 does not fit Numeric[5, 2]", ""),
    (Annotated[Numeric[5, 2], m.default(Decimal("Infinity"))], "is not a number", ""),
    (Annotated[Text, m.trim(), m.derive("'x'")], "is not the first marker", ""),
    (Annotated[Text, m.sql("a +")], "does not parse", ""),
    (Annotated[Text, m.sql("a, b")], "does not parse", ""),
    (Annotated[Text, m.sql("v AS x")], "is not one expression", "without AS"),
    (Annotated[Text, m.sql("v; DROP TABLE t")], "is not one expression", ""),
    (Annotated[Text, m.sql("DROP TABLE t")], "is not one expression", ""),
    (Annotated[Text, m.sql("SELECT 1")], "is not one expression", ""),
    (Annotated[Text, m.sql("(SELECT 1)")], "is not one expression", ""),
    (Annotated[Text, m.sql("v IN (SELECT x FROM y)")], "holds a query: (SELECT x FROM y)", "query"),
    (Annotated[Text, m.sql("max({})")], "holds an aggregate: MAX({})", ""),
    (Annotated[Text, m.sql("sum(1) OVER ()")], "holds a", ""),
    (Annotated[Text, m.sql("explode(v)")], "holds a function that makes several rows", ""),
    (Annotated[Text, m.sql("concat({}, othr)")], "'othr', which the table does not", "did"),
    (Annotated[Text, m.derive("concat(v, 'x')")], "reads v itself", "use sql(...)"),
    (Annotated[Text, m.derive("concat({}, 'x')")], "reads v itself", "use sql(...)"),
    (Annotated[Text, m.not_null_or("othr")], "'othr', which the table does not", "default"),
    (Annotated[Text, m.not_null_or("v")], "reads 'v' itself", ""),
    (Annotated[Integer, m.not_null_or("other")], "other is Text, but v is Integer", "sql("),
    (
        Annotated[Text, m.trim],
        "annotated with trim, which marks nothing",
        "call the marker: trim()",
    ),
    (Annotated[Text, "trim"], "annotated with 'trim', which marks nothing (known: pk(),", ""),
]


@pytest.mark.proves("tables-declared")
@pytest.mark.parametrize(("annotation", "what", "hint"), MISFITS, ids=[each[1] for each in MISFITS])
def test_a_marker_that_does_not_fit(annotation, what, hint):
    with pytest.raises(DeclarationError) as caught:
        declare(v=annotation, other=Text)
    assert what in caught.value.what
    assert "'v' of Orders" in caught.value.what
    assert caught.value.where == "tables.py:12"
    shown = f"{caught.value.what} {caught.value.hint}"
    assert hint in shown


def test_columns_that_wait_for_each_other():
    with pytest.raises(DeclarationError, match=r"wait for each other: (a -> b -> a|b -> a -> b)"):
        declare(a=Annotated[Text, m.derive("b")], b=Annotated[Text, m.not_null_or("a")])


WRONG = [
    (lambda: m.replace("", "x"), "replaces nothing"),
    (lambda: m.replace("a", 1), "new takes text, not 1"),
    (lambda: m.regex_replace("(", "x"), "regex_replace('(', 'x'): missing )"),
    (lambda: m.regex_replace("(?P<a>x)", ""), "(?P is not known to Java"),
    (lambda: m.regex_replace("(?i)x", ""), "flags like (?i)"),
    (lambda: m.regex_replace(r"x\Z", ""), r"\Z means different things"),
    (lambda: m.regex_replace(r"\v", ""), r"\v means different things"),
    (lambda: m.regex_replace(r"\U00000041", ""), r"\U means different things"),
    (lambda: m.regex_replace(r"\bx", ""), r"\b depends on Java's version"),
    (lambda: m.regex_replace("x{,3}", ""), "{ that repeats nothing"),
    (lambda: m.regex_replace("a{", ""), "{ that repeats nothing"),
    (lambda: m.regex_replace("[a--b]", ""), "must be written with a backslash"),
    (lambda: m.regex_replace("[a[b]]", ""), "must be written with a backslash"),
    (lambda: m.regex_replace("[a&&b]", ""), "must be written with a backslash"),
    (lambda: m.regex_replace(r"\p{Latin}", ""), r"\p{Latin} is not known (known: L, Ll"),
    (lambda: m.regex_replace("(x)", "$2"), "has 1 groups, so there is no $2"),
    (lambda: m.regex_replace("x", "$"), r"write \$ for a dollar"),
    (lambda: m.regex_replace("x", r"\1"), "a backslash stands before $"),
    (lambda: m.truncate(0), "a positive number of characters, not 0"),
    (lambda: m.truncate("3"), "a positive number of characters, not '3'"),
    (lambda: m.email_normalize(gmail="yes"), "gmail='yes' is neither True nor False"),
    (lambda: m.phone_normalize("de"), "country 'de' is not known; did you mean 'DE'? (known: AE"),
    (lambda: m.phone_normalize("DE", default=1), "default takes text, not 1"),
    (lambda: m.parse_int(thousands=";"), "thousands=';' is not known (known: ',',"),
    (lambda: m.parse_int(default=2**63), "does not fit 64 bits"),
    (lambda: m.parse_int(default=True), "default takes a whole number, not True"),
    (lambda: m.parse_int(on_failure="quarantin"), "did you mean 'quarantine'? (known: fail, null"),
    (lambda: m.parse_int(on_failure="null", default=1), "exclude each other"),
    (lambda: m.parse_numeric(decimal=";"), "decimal=';' is not known (known: ., ,)"),
    (lambda: m.parse_numeric(thousands="."), "cannot be both the thousands and the decimal"),
    (lambda: m.parse_numeric(default=0.5), "takes an int or a Decimal, not 0.5"),
    (lambda: m.round(-1), "round takes 0 to 37 digits, not -1"),
    (lambda: m.round(2, half="odd"), "half='odd' is not known (known: up, even)"),
    (lambda: m.clamp(*()), "clamp() needs min, max or both"),
    (lambda: m.clamp(5, 1), "min=5 is above max=1"),
    (lambda: m.clamp(1, date(2024, 1, 1)), "are not of one kind"),
    (lambda: m.clamp("a"), "clamp takes numbers, dates or datetimes, not 'a'"),
    (lambda: m.clamp(float("nan")), "NaN bounds nothing"),
    (lambda: m.clamp(1, Decimal("NaN")), "NaN bounds nothing"),
    (lambda: m.nullif(Decimal("sNaN")), "NaN equals nothing"),
    (lambda: m.parse_bool(true="yes"), "true takes a list of words, not 'yes'"),
    (lambda: m.parse_bool(true=[" yes"]), "words without white space around, not ' yes'"),
    (lambda: m.parse_bool(false=[]), "false names no word"),
    (lambda: m.parse_bool(true=["x"], false=["X"]), "'x' cannot mean both"),
    (lambda: m.parse_bool(default="no"), "default takes True or False, not 'no'"),
    (lambda: m.default(None), "default takes text, a number"),
    (lambda: m.default(float("nan")), "NaN equals nothing"),
    (lambda: m.nullif(*()), "nullif() needs at least one value"),
    (lambda: m.nullif("a", 1), "'a', 1 are not of one kind"),
    (lambda: m.not_null_or(*()), "not_null_or takes names of columns, not nothing"),
    (lambda: m.not_null_or(0), "not_null_or takes names of columns, not 0"),
    (lambda: m.sql(""), "sql takes an expression of Spark SQL as text, not ''"),
    (lambda: m.derive(5), "derive takes an expression of Spark SQL as text, not 5"),
    (lambda: m.parse_date(*()), "takes a format or formats=[...], and not both"),
    (lambda: m.parse_date("%Y", formats=["%Y"]), "and not both"),
    (lambda: m.parse_date(formats="%Y-%m-%d"), "formats takes a list of formats"),
    (lambda: m.parse_date(7), "a format is text, not 7"),
    (lambda: m.parse_date("%Y-%m-%D"), "%D is not known; did you mean %d? (known: %Y, %y, %m"),
    (lambda: m.parse_date("yyyy-MM-dd"), "it reads no year (%Y, %y)"),
    (lambda: m.parse_date("%Y-%m"), "it reads no day (%d, %-d)"),
    (lambda: m.parse_date("%Y-%m-%d %d"), "%d and %d read the same thing"),
    (lambda: m.parse_date("%Y-%m-%d "), "begins or ends with white space"),
    (lambda: m.parse_date("%Y-%m-%d%"), "it ends in a lone %"),
    (lambda: m.parse_date("%Y-%m-%d %H"), "reads a time of day, which a date cannot keep"),
    (lambda: m.parse_date("%Y-%m-%d", default=datetime(2024, 1, 1)), "default takes a date"),
    (lambda: m.parse_timestamp("%Y-%m-%d %I"), "%I and %p need each other"),
    (lambda: m.parse_timestamp("%Y-%m-%d %M"), "it reads no hour"),
    (lambda: m.parse_timestamp("%Y-%m-%d %H.%f"), "%f needs %S"),
    (
        lambda: m.parse_timestamp(formats=["%Y-%m-%d", "%Y-%m-%d %H%z"]),
        "'%Y-%m-%d' has no offset, but other formats have",
    ),
    (
        lambda: m.parse_timestamp("%Y-%m-%d", zone="Europe/Berln"),
        "'Europe/Berln' is not a time zone; did you mean 'Europe/Berlin'?",
    ),
    (
        lambda: m.parse_timestamp("%Y-%m-%d", default=datetime(2024, 1, 1).astimezone()),
        "default takes a datetime without tzinfo",
    ),
    (lambda: m.to_timezone("Mars"), "'Mars' is not a time zone"),
    (lambda: m.to_timezone(None), "None is not a time zone"),
    (lambda: m.date_trunc("mounth"), "unit='mounth' is not known; did you mean 'month'?"),
    (lambda: m.date_trunc("hour", zone="UTC"), "date_trunc('hour') takes no zone"),
]


@pytest.mark.proves("mistakes-told")
@pytest.mark.parametrize(("make", "what"), WRONG, ids=[each[1] for each in WRONG])
def test_a_wrong_argument_is_refused_at_its_line(make, what):
    with pytest.raises(DeclarationError) as caught:
        make()
    assert what in caught.value.what
    file, _, line = caught.value.where.rpartition(":")
    assert file.endswith("test_markers.py")
    assert int(line) in range(make.__code__.co_firstlineno, make.__code__.co_firstlineno + 4)


def test_a_postponed_annotation_has_the_line_of_its_table(project):
    project.write(
        "tables.py",
        "from __future__ import annotations\n"
        "from typing import Annotated\n"
        "from ematix_flow import BigInt, Text, ematix, pk\n"
        "from ematix_flow.spec.normalize import truncate\n"
        "\n"
        "@ematix.table\n"
        "class Orders:\n"
        "    name: Annotated[Text, truncate(0)]\n",
    )
    with pytest.raises(DeclarationError, match="truncate takes a positive number") as caught:
        project.flow()
    assert re.search(r"tables\.py:\d+$", caught.value.where)
