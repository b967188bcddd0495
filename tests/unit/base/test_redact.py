import json
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ematix_flow._base.redact import (
    MASK,
    looks_secret,
    redact,
    redact_data,
    redact_value,
    register_secret,
    register_secrets_in,
)
from ematix_flow.errors import FlowError


@pytest.mark.proves("no-secret")
@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgres://app:hunter2@db:5432/shop", "hunter2"),
        ("postgres://app:p@ss:w0rd@db/shop", "p@ss:w0rd"),
        ("mysql://app:hunter2@db?ssl=1 failed", "hunter2"),
        ("password=hunter2 user=app", "hunter2"),
        ("Password: hunter2", "hunter2"),
        ("{'api_key': 'hunter2'}", "hunter2"),
        ('{"secret_access_key": "hunter2"}', "hunter2"),
        ("sc://localhost:15002/;token=hunter2", "hunter2"),
        ("Authorization: Bearer abc.def.ghi", "abc.def.ghi"),
        ("Authorization: Basic aHVudGVyMg==", "aHVudGVyMg"),
        ("spark.hadoop.fs.s3a.secret.key = hunter2  (set in x.toml)", "hunter2"),
        ("spark.hadoop.fs.s3a.access.key=hunter2", "hunter2"),
        ("javax.jdo.option.ConnectionPassword=hunter2", "hunter2"),
        ("fs.azure.account.key.shop.dfs.core.windows.net=hunter2", "hunter2"),
        ("DB_PASS=hunter2", "hunter2"),
        ("auth_token=hunter2", "hunter2"),
        ("error: password=hunter2", "hunter2"),
        ("password='hunter2", "hunter2"),
        ("if password == 'hunter2':", "hunter2"),
        ("{:password=>'hunter2'}", "hunter2"),
        (r'password="hun\"ter2" and more', "ter2"),
        ("postgres://app:hun/ter2@db/shop", "ter2"),
        ("jdbc:mysql://db/shop?user=app&password=hunter2&ssl=1", "hunter2"),
    ],
)
def test_text_that_looks_like_a_credential_is_masked(text, secret):
    assert secret not in redact(text)
    assert MASK in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "load_orders: 3 rows",
        "https://example.com/a:b",
        "SELECT token_count FROM t",
        "12:30:45",
        "token_count: '12.5'",
        "max_tokens=4096, tokens: 3",
        "secretary: Ada",
        "https://host:8080/x?mail=a@b.c",
        "http://localhost:4040/jobs#a@b",
        "bypass: yes, first pass: 3 rows",
        "sort_key=order_id",
        "give a password:\nHint: ask for one",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert redact(text) == text


def test_what_follows_a_credential_stays():
    assert (
        redact("https://app:hunter2@host/x?mail=a@b.c") == f"https://app:{MASK}@host/x?mail=a@b.c"
    )
    assert redact("pwd=hunter2; port=5432") == f"pwd={MASK}; port=5432"


@pytest.mark.parametrize("part", ["a", "a.b-", "http://a:b,", "x: ", "'\"", "a=", "://:"])
def test_long_text_takes_no_long_time(part):
    text = part * (400_000 // len(part))
    start = time.process_time()
    assert redact(text) == text
    assert time.process_time() - start < 5


@pytest.mark.proves("no-secret")
@given(st.text(min_size=4).filter(lambda text: "*" not in text))
def test_a_registered_value_never_survives(secret):
    register_secret(secret)
    assert secret not in redact(f"before {secret} after {secret}{secret}")


def test_a_short_value_is_never_a_secret():
    register_secret("abc")
    assert redact("it is abc") == "it is abc"


def test_the_url_quoted_form_of_a_secret_is_masked_too():
    register_secret("pa/ss wörd")
    assert redact("x=pa%2Fss%20w%C3%B6rd") == "x=***"


@pytest.mark.proves("no-secret")
def test_data_is_redacted_at_every_depth():
    register_secret("canary-1234")
    data = redact_data({"a": ["canary-1234", {"b": ("x canary-1234", 7)}]})
    assert data == {"a": [MASK, {"b": [f"x {MASK}", 7]}]}


def test_data_under_a_secret_name_is_masked():
    settings = [
        {"key": "spark.hadoop.fs.s3a.secret.key", "value": "two words", "why": "set"},
        {"key": "spark.sql.ansi.enabled", "value": "true", "why": "ours"},
    ]
    assert redact_data({"password": "two words", "pin": {"api_key": 1234}}) == {
        "password": MASK,
        "pin": {"api_key": MASK},
    }
    assert redact_data(settings) == [{**settings[0], "value": MASK}, settings[1]]
    kept = {"password": None, "has_secret": True, "token_count": "12.5", "max_tokens": 7}
    assert redact_data(kept) == kept


def test_one_setting_is_masked_by_its_name():
    assert redact_value("fs.s3a.secret.key", "two words") == MASK
    assert redact_value("url", "https://app:hunter2@host") == f"https://app:{MASK}@host"


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("secretAccessKey", True),
        ("sslKeyPassword", True),
        ("client-secret", True),
        ("password1", True),
        ("PGPASSWORD", True),
        ("sas.token", True),
        ("tokens", False),
        ("primary_key", False),
        ("passwordless", False),
    ],
)
def test_names_of_secrets(name, secret):
    assert looks_secret(name) is secret


@pytest.mark.parametrize(
    "text",
    [
        "postgres://app:hunter-2@db/shop",
        "host=db password=hunter-2 dbname=shop",
        "jdbc:mysql://db/shop?user=app&password=hunter-2",
        "postgres://app:hunter%2D2@db/shop",
    ],
)
def test_the_credentials_that_a_text_spells_out_are_known_from_then_on(text):
    register_secrets_in(text)
    assert redact("cannot log in with hunter-2 to shop on db") == (
        f"cannot log in with {MASK} to shop on db"
    )


def test_the_printed_form_of_a_secret_is_masked_too():
    register_secret("back\\slash")
    assert redact(f"{['back' + chr(92) + 'slash']!r}") == f"['{MASK}']"


@pytest.mark.proves("no-secret")
def test_an_error_is_redacted_when_it_is_built():
    register_secret("canary-5678")
    error = FlowError(
        "a canary-5678", where="b canary-5678", hint="c canary-5678", details="canary-5678"
    )
    assert "canary-5678" not in str(error)
    assert "canary-5678" not in str(error.to_json())
    assert "canary-5678" not in repr(error)


@pytest.mark.parametrize(
    "text",
    [
        "password=${DB_PASSWORD}",
        "password = '${vault:db/shop#pass}', user = 'app'",
        "password=${FIRST}${SECOND}; next",
        "password=${DB_PASSWORD:-***}",
        "export DB_PASSWORD=..., or write ${DB_PASSWORD:-...}",
    ],
)
def test_a_reference_to_a_secret_is_shown(text):
    assert redact(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "password=${DB_PASSWORD}hunter2",
        "password=hunter2${DB_PASSWORD}",
        "password=${DB_PASSWORD:-hunter2}",
        "password=...hunter2",
        "password='${DB_PASSWORD} hunter2'",
    ],
)
def test_what_is_more_than_a_reference_is_not(text):
    assert "hunter2" not in redact(text)
    assert redact_value("password", text.partition("=")[2]) == MASK


def test_references_in_data_are_shown():
    data = {"password": "${PW}", "token": "${PW:-hunter2}", "secrets": ["${PW}", "x"]}
    assert redact_data(data) == {"password": "${PW}", "token": MASK, "secrets": MASK}


@pytest.mark.parametrize(
    "name",
    ["basic.auth.user.info", "schema.registry.basic.auth.userInfo", "keystore.key", "ssl.key.pem"],
)
def test_secrets_of_kafka_clients(name):
    assert looks_secret(name)
    assert redact_data({name: "app:hunter2"}) == {name: MASK}


@pytest.mark.parametrize("name", ["basic_auth_user", "sslkey", "tls_key_file", "private_key_file"])
def test_what_is_no_secret_beside_them(name):
    assert not looks_secret(name)


def test_a_secret_is_known_in_every_spelling():
    secret = 'pé"q\\w/.*-canary'
    register_secret(secret)
    spelt = [secret, repr(secret), json.dumps(secret), quote(secret), quote(secret, safe="")]
    for text in spelt:
        assert "canary" not in redact(f"x {text} x")


def test_a_secret_of_several_lines_is_known_by_each():
    register_secret("first line canary-a\nsecond line canary-b\n")
    assert "canary" not in redact("it says: second line canary-b")


def test_a_secret_that_is_no_text():
    register_secret("bytes-\udcff-canary")
    assert "canary" not in redact("bytes-\udcff-canary")
