"""A connection goes out as config and comes back the same, byte for byte."""

import json
import tomllib

import pytest
from hypothesis import given

from ematix_flow.connections.model import Connection, PostgresConnection
from ematix_flow.connections.toml_text import with_values
from tests.unit.connections.strategies import TEXT, connections


@pytest.mark.proves("config-round-trip")
@given(connections())
def test_config_gives_the_same_connection_and_the_same_bytes(made):
    config = made.to_config()
    again = Connection.from_config(config)
    assert again == made == Connection.from_config(made.name, config)
    assert hash(again) == hash(made)
    assert json.dumps(again.to_config()) == json.dumps(config)


@pytest.mark.proves("config-round-trip")
@given(connections())
def test_toml_gives_the_same_connection_and_the_same_bytes(made):
    config = made.to_config()
    text = with_values("", ("connections", made.name), config)
    read = tomllib.loads(text)["connections"][made.name]
    again = Connection.from_config(read)
    assert again == made
    assert with_values("", ("connections", made.name), again.to_config()) == text


@given(TEXT, TEXT, TEXT, TEXT)
def test_a_url_of_postgres_is_read_as_it_was_written(user, password, database, options):
    made = PostgresConnection(
        name="w",
        user=user,
        password=password,
        database=database,
        options=options,
        properties={"krbsrvname": user},
        origin="environment",  # does not warn of the password
    )
    again = PostgresConnection(name="w", url=made.dsn, origin="environment")
    assert again == made


def test_the_order_of_settings_makes_no_difference():
    base = {"kind": "kafka", "bootstrap_servers": "k:9092"}
    one = Connection.from_config("k", {**base, "properties": {"b": "1", "a": "2"}})
    other = Connection.from_config("k", {"properties": {"a": "2", "b": "1"}, **base})
    assert one == other
    assert json.dumps(one.to_config()) == json.dumps(other.to_config())
