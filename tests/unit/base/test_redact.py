import pytest
from hypothesis import given
from hypothesis import strategies as st

from ematix_flow._base.redact import MASK, redact, redact_data, register_secret
from ematix_flow.errors import FlowError


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
    ],
)
def test_text_that_looks_like_a_credential_is_masked(text, secret):
    assert secret not in redact(text)
    assert MASK in redact(text)


@pytest.mark.parametrize(
    "text",
    ["load_orders: 3 rows", "https://example.com/a:b", "SELECT token_count FROM t", "12:30:45"],
)
def test_ordinary_text_is_left_alone(text):
    assert redact(text) == text


@given(st.text(min_size=4).filter(lambda text: "*" not in text))
def test_a_registered_value_never_survives(secret):
    register_secret(secret)
    assert secret not in redact(f"before {secret} after {secret}{secret}")


def test_the_url_quoted_form_of_a_secret_is_masked_too():
    register_secret("pa/ss wörd")
    assert redact("x=pa%2Fss%20w%C3%B6rd") == "x=***"


def test_data_is_redacted_at_every_depth():
    register_secret("canary-1234")
    data = redact_data({"a": ["canary-1234", {"b": ("x canary-1234", 7)}]})
    assert data == {"a": [MASK, {"b": [f"x {MASK}", 7]}]}


def test_an_error_is_redacted_when_it_is_built():
    register_secret("canary-5678")
    error = FlowError(
        "a canary-5678", where="b canary-5678", hint="c canary-5678", details="canary-5678"
    )
    assert "canary-5678" not in str(error)
    assert "canary-5678" not in str(error.to_json())
    assert "canary-5678" not in repr(error)
