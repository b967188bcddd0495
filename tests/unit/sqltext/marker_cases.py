"""Inputs for every marker, drawn once and given to Spark and to each dialect alike."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ematix_flow._base.location import Location
from ematix_flow.spec import normalize as m
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import (
    BigInt,
    Boolean,
    DataType,
    Date,
    Double,
    Numeric,
    Text,
    Timestamp,
    TimestampTZ,
)

NTZ, TZ = "timestampntz", "timestamptz"


@dataclass(frozen=True)
class Case:
    """One column: its markers, and what the query returns for it."""

    kind: DataType
    markers: tuple[m.Marker, ...]
    values: st.SearchStrategy
    given: str = "text"

    @property
    def name(self):
        return ", ".join(map(str, self.markers)) + f" on {self.kind}"


@cache
def drawn(strategy, count):
    """Draw *count* values, the same in every run of CI; once for all who ask for the same."""
    found = []

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value):
        found.append(value)

    collect()
    return (None, *found)[:count]


def table_of(case):
    """A table of a key and the one column of *case*."""
    column = Column(name="v", type=case.kind, nullable=True, markers=case.markers)
    return Table(
        name=TableName(name="t"),
        columns=(Column(name="n", type=BigInt(), primary_key=True), column),
        location=Location("x.py", 1),
    )


# NUL: PostgreSQL has none in text. Surrogates: no text at all. Characters that are newer than
# Python's Unicode, and two that got a capital since: Spark knows it, Python may not.
CHARACTERS = st.characters(exclude_categories=["Cs", "Cn"], exclude_characters="\0\u019b\u0264")
SPACES = st.text("\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2003\u2028\u3000", max_size=3)
PLAIN = st.one_of(
    st.text(CHARACTERS, max_size=12),
    st.text("aAbBzZ \t.'\"\\%_${}", max_size=8),
    st.sampled_from(
        ["", " ", "\u200b", "\ufeff", "ß", "İ", "ΑΣ", "ΑΣ.", "ǅ", "ﬁ", "K", "\u0131", "ŉ"]
    ),
    st.sampled_from(
        ["é", "e\u0301", "👩‍👩‍👧", "🇩🇪", "\U0001d4b3yz", "NULL", "${env:HOME}", "a\\nb", "it's"]
    ),
)
TEXT = st.tuples(SPACES, PLAIN, SPACES).map("".join)
LOCAL = st.text("abc.+-A", min_size=0, max_size=6)
EMAILS = st.tuples(
    SPACES,
    LOCAL,
    st.sampled_from(["@gmail.com", "@GMail.com", "@googlemail.com", "@example.org", "", "@a@b"]),
    SPACES,
).map("".join)
PHONES = st.one_of(
    st.text("0123456789 -()+./", min_size=5, max_size=18),
    st.tuples(
        st.sampled_from(["+", "00", "011", "0", "1", "+49 (0)", "+1 ", "", " +", "0011", "06"]),
        st.text("0123456789 -", min_size=6, max_size=14),
    ).map("".join),
    st.sampled_from(
        ["call me", "+49\u00a030\u2013123456", "", "٣٣٣٣٣٣٣", "+0123456789", "++4930123456"]
    ),
)
EDGES = (2**31 - 1, 2**31, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**18, 10**19, 10**38, 0)
WHOLE = st.one_of(
    st.integers(-(2**66), 2**66),
    st.sampled_from(EDGES),
    st.sampled_from(EDGES).flatmap(lambda edge: st.integers(edge - 2, edge + 2)),
)
SHAPES = ("{}", "+{}", "000{}", " {}\n", "{:,}", "-{}", "{}.0", "{}e3", "{:,}.", "0{:,}")
WHOLE_TEXT = st.one_of(
    st.tuples(WHOLE, st.sampled_from(SHAPES)).map(lambda pair: pair[1].format(pair[0])),
    st.text("0123456789,.+-eE ", max_size=8),
    st.sampled_from(
        ["", " ", "٣", "0x10", "1_000", "--1", "+", "-", "NaN", "1 2", "- 1", "0" * 60]
    ),
    st.sampled_from(["1,234", "12,34", "1234,567", ",123", "1,234,", "1,2345", "\uff11"]),
)
DIGITS = st.text("0123456789", max_size=24)
DECIMAL_TEXT = st.one_of(
    st.tuples(
        st.sampled_from(["", "-", "+", " "]),
        st.one_of(DIGITS, st.integers(0, 10**12).map("{:,}".format)),
        st.sampled_from(["", ".", ".5", ".005", ".125", ".000"]),
        DIGITS,
    ).map("".join),
    WHOLE_TEXT,
)
EUROPEAN = DECIMAL_TEXT.map(lambda text: text.translate(str.maketrans(".,", ",.")))
DECIMALS = st.one_of(
    st.decimals(-(10**9), 10**9, places=3),
    st.integers(-(10**5), 10**5).map(lambda n: Decimal(n) / 2),
    st.integers(-(10**17), 10**17).map(lambda n: Decimal(n).scaleb(-3)),
)
DOUBLES = st.one_of(
    st.floats(-1e15, 1e15),
    st.integers(-2000, 2000).map(lambda n: n / 8),
    st.integers(-(10**6), 10**6).map(lambda n: n / 1000),
)
WORDS = st.one_of(
    st.sampled_from(
        [
            "true",
            "True",
            "TRUE",
            "tRUE",
            "t",
            "T",
            "yes",
            "Yes",
            "y",
            "on",
            "off",
            "0",
            "1",
            "2",
            "no",
            "NO",
            "n",
            "false",
            "f",
            "F",
            "oui",
            "Oui",
            "non",
        ]
    ),
    TEXT,
    st.sampled_from(
        [
            " true ",
            "\u2003no\n",
            "",
            "ja",
            "\uff34\uff32\uff35\uff25",
            "truE",
            "OUI",
            "été",
            "ÉTÉ",
            "Été",
        ]
    ),
)
DAYS = st.one_of(
    st.dates(), st.sampled_from([date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31)])
)
CLOCKS = st.one_of(
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)),
    st.datetimes(datetime(1970, 1, 1), datetime(2037, 12, 31)),
)
# Half an hour around the switches of Berlin, New York, Lord Howe and São Paulo, and others.
SWITCHES = tuple(
    datetime.fromisoformat(each)
    for each in (
        *("2024-03-31T01:00", "2024-10-27T01:00", "2024-03-10T07:00", "2024-11-03T06:00"),
        *("2024-04-06T15:00", "2024-10-05T15:30", "2018-11-04T03:00", "2018-02-18T02:00"),
        *("2011-12-30T10:00", "1997-03-30T01:00"),
    )
)
NEAR_SWITCHES = st.tuples(st.sampled_from(SWITCHES), st.integers(-50, 50)).map(
    lambda pair: pair[0] + timedelta(minutes=15 * pair[1])
)
MODERN = st.one_of(NEAR_SWITCHES, st.datetimes(datetime(1971, 1, 1), datetime(2037, 12, 31)))
INSTANTS = MODERN.map(lambda each: each.replace(tzinfo=UTC))
ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Asia/Kolkata",
)


def damaged(strategy):
    """Text as it should be and, now and then, not quite."""
    changes = st.sampled_from(
        [
            lambda t: t,
            lambda t: t,
            lambda t: f" {t}\n",
            lambda t: t[:-1],
            lambda t: t.replace("0", "\u0660", 1),
            lambda t: t.replace("-", "/", 1),
            lambda t: t.replace("0", "", 1),
            lambda t: t + "0",
            lambda t: t.replace("1", "3", 1),
            lambda t: t.replace("2", "0"),
            lambda t: t.upper(),
            lambda t: t.lower(),
            lambda _: "",
        ]
    )
    return st.tuples(strategy, changes).map(lambda pair: pair[1](pair[0]))


def shown(days, *formats):
    """Times written by one of *formats*, which `strftime` knows."""

    def write(pair):
        when, format_ = pair
        return when.strftime(format_.replace("%Y", f"{when.year:04}"))

    return damaged(st.tuples(days, st.sampled_from(formats)).map(write))


IMPOSSIBLE = st.sampled_from(
    [
        "2024-02-30",
        "2023-02-29",
        "1900-02-29",
        "2024-13-01",
        "2024-00-10",
        "2024-04-31",
        "0000-01-01",
    ]
)
OFFSETS = st.sampled_from(["Z", "+01:00", "-0530", "+1400", "+15:00", "-00:00", "+0060", "+5", "z"])
WITH_OFFSET = st.tuples(CLOCKS, OFFSETS).map(
    lambda pair: pair[0].isoformat(timespec="microseconds") + pair[1]
)

CASES = (
    Case(Text(), (m.trim(),), TEXT),
    Case(Text(), (m.lower(),), TEXT),
    Case(Text(), (m.upper(),), TEXT),
    Case(Text(), (m.trim(), m.lower(), m.empty_to_null()), TEXT),
    Case(Text(), (m.empty_to_null(),), TEXT),
    Case(Text(), (m.whitespace_to_null(),), TEXT),
    Case(Text(), (m.replace("a", "'${env:HOME}\\"),), TEXT),
    Case(Text(), (m.replace("\\", "\\\\%"), m.replace("'", '"')), TEXT),
    Case(Text(), (m.regex_replace(r"([a-z]+)[ .]*([A-Z])", r"$2-$1"),), TEXT),
    Case(Text(), (m.regex_replace(r"\s+", " "), m.regex_replace(r"[^\w$\\]", "")), TEXT),
    Case(Text(), (m.truncate(3),), TEXT),
    Case(Text(), (m.truncate(1), m.default("none")), TEXT),
    Case(Text(), (m.email_normalize(),), EMAILS),
    Case(Text(), (m.email_normalize(gmail=True),), EMAILS),
    Case(Text(), (m.phone_normalize(),), PHONES),
    Case(Text(), (m.phone_normalize("DE", on_failure="null"),), PHONES),
    Case(Text(), (m.phone_normalize("US", default="+10000000"),), PHONES),
    Case(Text(), (m.phone_normalize("HU", on_failure="quarantine"),), PHONES),
    Case(Text(), (m.default("it's \\ ${x}"),), TEXT),
    Case(Text(), (m.nullif("", "a", "NULL"),), TEXT),
    Case(Text(), (m.nullif("ß"),), TEXT),
    Case(BigInt(), (m.parse_int(),), WHOLE_TEXT),
    Case(BigInt(), (m.parse_int(thousands=","), m.clamp(-1000, 10**12)), WHOLE_TEXT),
    Case(BigInt(), (m.empty_to_null(), m.parse_int(on_failure="null"), m.default(-1)), WHOLE_TEXT),
    Case(BigInt(), (m.parse_int(default=7),), WHOLE_TEXT),
    Case(BigInt(), (m.clamp(max=5),), st.integers(-(2**63), 2**63 - 1), "bigint"),
    Case(BigInt(), (m.nullif(0, -1), m.default(2**62)), st.integers(-2, 2), "bigint"),
    Case(Numeric(12, 2), (m.parse_numeric(),), DECIMAL_TEXT),
    Case(Numeric(12, 2), (m.parse_numeric(thousands=","), m.round(2)), DECIMAL_TEXT),
    Case(Numeric(12, 2), (m.parse_numeric(decimal=",", thousands="."),), EUROPEAN),
    Case(Numeric(38, 0), (m.parse_numeric(on_failure="null"),), DECIMAL_TEXT),
    Case(Numeric(38, 38), (m.parse_numeric(on_failure="quarantine"),), DECIMAL_TEXT),
    Case(Numeric(20, 5), (m.parse_numeric(), m.round(1, half="even")), DECIMAL_TEXT),
    Case(Numeric(20, 3), (m.round(1),), DECIMALS, "decimal(20, 3)"),
    Case(Numeric(20, 3), (m.round(half="even"),), DECIMALS, "decimal(20, 3)"),
    Case(
        Numeric(20, 3),
        (m.clamp(Decimal("-0.5"), Decimal("10.125")), m.nullif(Decimal(0)), m.default(1)),
        DECIMALS,
        "decimal(20, 3)",
    ),
    Case(Double(), (m.round(2),), DOUBLES, "double"),
    Case(Double(), (m.clamp(-1.5, 1e6),), DOUBLES, "double"),
    Case(Boolean(), (m.parse_bool(),), WORDS),
    Case(Boolean(), (m.parse_bool(true=["Oui", "été"], false=["non"], default=False),), WORDS),
    Case(Boolean(), (m.parse_bool(on_failure="null"), m.default(True)), WORDS),
    Case(Boolean(), (m.nullif(False),), st.booleans(), "boolean"),
    Case(Date(), (m.parse_date("%Y-%m-%d"),), st.one_of(shown(DAYS, "%Y-%m-%d"), IMPOSSIBLE)),
    Case(
        Date(),
        (m.parse_date(formats=["%d.%m.%Y", "%-m/%-d/%y", "%d %b %Y"], on_failure="null"),),
        shown(DAYS, "%d.%m.%Y", "%-m/%-d/%y", "%m/%d/%y", "%d %b %Y"),
    ),
    Case(
        Date(),
        (m.parse_date(formats=["%B %-d, %Y", "%Y%m%d"], default=date(1999, 9, 9)),),
        shown(DAYS, "%B %-d, %Y", "%Y%m%d"),
    ),
    Case(Date(), (m.parse_date("%Y-%m-%d"), m.date_trunc("quarter")), shown(DAYS, "%Y-%m-%d")),
    Case(
        Timestamp(),
        (m.parse_timestamp("%Y-%m-%d %H:%M:%S.%f"),),
        shown(CLOCKS, "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.5"),
    ),
    Case(
        Timestamp(),
        (m.parse_timestamp("%d/%m/%y %-I:%M %p", on_failure="quarantine"),),
        shown(CLOCKS, "%d/%m/%y %-I:%M %p", "%d/%m/%y %I:%M %p"),
    ),
    Case(
        Timestamp(),
        (m.parse_timestamp("%Y-%m-%dT%H:%M"), m.date_trunc("hour")),
        shown(CLOCKS, "%Y-%m-%dT%H:%M"),
    ),
    Case(
        Timestamp(),
        (m.parse_timestamp("%Y-%m-%dT%H:%M"), m.date_trunc("week")),
        shown(CLOCKS, "%Y-%m-%dT%H:%M"),
    ),
    Case(TimestampTZ(), (m.parse_timestamp("%Y-%m-%dT%H:%M:%S.%f%z"),), WITH_OFFSET),
    Case(
        TimestampTZ(),
        (m.parse_timestamp("%Y-%m-%d %H:%M:%S", zone="UTC"),),
        shown(CLOCKS, "%Y-%m-%d %H:%M:%S"),
    ),
    *(
        Case(
            TimestampTZ(),
            (
                m.parse_timestamp(
                    formats=["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S%z"], zone=zone, on_failure=policy
                ),
            ),
            shown(MODERN, "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S+02:00"),
        )
        for zone, policy in zip(ZONES, ("fail", "fail", "fail", "null", "quarantine"), strict=True)
    ),
    *(Case(Timestamp(), (m.to_timezone(zone),), INSTANTS, TZ) for zone in (*ZONES, "UTC")),
    Case(Timestamp(), (m.to_timezone("Europe/Berlin"),), MODERN, NTZ),
    *(
        Case(Date(), (m.date_trunc(unit),), DAYS, "date")
        for unit in ("year", "quarter", "month", "week", "day")
    ),
    *(
        Case(Timestamp(), (m.date_trunc(unit),), CLOCKS, NTZ)
        for unit in ("year", "month", "day", "hour", "minute", "second")
    ),
    *(
        Case(TimestampTZ(), (m.date_trunc(unit),), INSTANTS, TZ)
        for unit in ("quarter", "week", "day", "hour", "second")
    ),
    *(Case(TimestampTZ(), (m.date_trunc("day", zone=zone),), INSTANTS, TZ) for zone in ZONES),
    Case(TimestampTZ(), (m.date_trunc("month", zone="America/New_York"),), INSTANTS, TZ),
    Case(Date(), (m.default(date(2020, 2, 29)), m.clamp(date(1900, 1, 1))), DAYS, "date"),
    Case(Timestamp(), (m.default(datetime(2020, 2, 29, 1, 2, 3, 456)),), CLOCKS, NTZ),
    Case(
        TimestampTZ(),
        (m.nullif(SWITCHES[0].replace(tzinfo=UTC)), m.default(datetime(2020, 1, 1, tzinfo=UTC))),
        INSTANTS,
        TZ,
    ),
)
