"""Contacts as people type them: cleaned by markers, the hopeless ones set aside."""

from typing import Annotated

from ematix_flow import (
    BigInt,
    Boolean,
    Date,
    Numeric,
    Text,
    default,
    derive,
    email_normalize,
    ematix,
    nullif,
    parse_bool,
    parse_date,
    parse_int,
    parse_numeric,
    phone_normalize,
    pk,
    round,
    trim,
    whitespace_to_null,
)


@ematix.connection
class landing:
    kind = "csv"
    path = "data"


@ematix.connection
class warehouse:
    kind = "duckdb"
    path = "warehouse.duckdb"


@ematix.table
class Contacts:
    id: Annotated[BigInt, pk(), parse_int()]
    email: Annotated[Text, email_normalize()]
    domain: Annotated[Text, derive("substring_index(email, '@', -1)")]
    phone: Annotated[Text | None, phone_normalize("DE", on_failure="quarantine")]
    joined: Annotated[Date, parse_date(formats=["%d.%m.%Y", "%Y-%m-%d"])]
    spent: Annotated[Numeric[10, 2], parse_numeric(decimal=",", thousands="."), round(2)]
    newsletter: Annotated[Boolean, parse_bool(true=["ja"], false=["nein"]), default(False)]
    city: Annotated[Text | None, trim(), nullif("N/A"), whitespace_to_null()]


@ematix.pipeline(
    target=Contacts, mode="truncate", source_connection=landing, target_connection=warehouse
)
def load_contacts():
    return "SELECT id, email, phone, joined, spent, newsletter, city FROM contacts"
