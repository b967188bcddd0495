"""No model of any kind shows a secret: not by repr, not by str, not by its config for show."""

import warnings

import pytest

from ematix_flow._base.redact import redact
from ematix_flow.connections.inline import InlineCredentialWarning
from ematix_flow.connections.model import KINDS, Connection, properties_of
from ematix_flow.connections.model.settings import Settings
from ematix_flow.connections.secrets import SecretResolver

REQUIRED = {
    "schema_registry": {"url": "http://r"},
    "delta": {"path": "x"},
    "iceberg": {"path": "x"},
}


def config_of(kind):
    model = KINDS[kind]
    return {"kind": kind, **dict.fromkeys(model.requires, "x"), **REQUIRED.get(kind, {})}


def secret_keys(kind):
    return [key for key, each in properties_of(KINDS[kind]).items() if each.secret]


SECRETS = [(kind, key) for kind in KINDS for key in secret_keys(kind)]
SETTINGS = [
    kind
    for kind in KINDS
    if any(each.type is Settings for each in properties_of(KINDS[kind]).values())
]
WITH_USER = {
    "sasl_plain_password": {"sasl_plain_username": "app"},
    "sasl_scram_password": {"sasl_scram_username": "app"},
}


def test_the_list_is_not_empty():
    assert len(SECRETS) > 20
    assert len(SETTINGS) > 8


@pytest.mark.proves("no-secret")
@pytest.mark.parametrize(("kind", "key"), SECRETS)
def test_a_secret_property(kind, key):
    canary = f"canary-{kind}-{key}"
    config = config_of(kind) | {key: canary} | WITH_USER.get(key, {})
    with pytest.warns(InlineCredentialWarning) as caught:
        made = Connection.from_config("c", config, origin="pipelines.py:3")
    told = [str(each.message) for each in caught]
    assert any(f"connection 'c': {key} is written out in pipelines.py:3" in each for each in told)
    shown = [repr(made), str(made), f"{made}", str(made.shown()), *told]
    assert canary not in "".join(shown)
    assert f"{key}='***'" in repr(made)

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a reference is no inline secret
        made = Connection.from_config("c", config | {key: "${THE_VALUE}"})
    assert f"{key}='${{THE_VALUE}}'" in repr(made)
    live = made.resolved(SecretResolver(environ={"THE_VALUE": canary}))
    assert getattr(live, key) == canary
    assert canary not in repr(live)
    assert redact(f"it is {canary}!") == "it is ***!"


@pytest.mark.proves("no-secret")
@pytest.mark.parametrize("kind", SETTINGS)
def test_a_secret_among_the_settings(kind):
    canary = f"canary-settings-{kind}"
    settings = {
        "ssl.key.password": canary,
        "sasl.jaas.config": f'Module required username="a" password="{canary}";',
        "plain": "seen",
    }
    with pytest.warns(InlineCredentialWarning) as caught:
        made = Connection.from_config("c", config_of(kind) | {"properties": settings})
    told = " ".join(str(each.message) for each in caught)
    assert "properties.ssl.key.password" in told
    assert "properties.sasl.jaas.config" in told
    everything = f"{made!r} {made} {made.shown()} {made.properties!r} {told}"
    assert canary not in everything
    assert "'plain': 'seen'" in everything


@pytest.mark.parametrize(
    "url",
    [
        "postgres://app:hunter2hunter2@db/shop",
        "mysql://app:hunter2hunter2@db/shop",
        "amqp://app:hunter2hunter2@mq",
        "kafka://app:hunter2hunter2@k:9092",
        "snowflake://app:hunter2hunter2@acc/db",
    ],
)
def test_a_password_in_a_url(url):
    with pytest.warns(InlineCredentialWarning, match="password is written out"):
        made = Connection.from_config("c", {"url": url})
    assert "hunter2hunter2" not in f"{made!r} {made.shown()}"
