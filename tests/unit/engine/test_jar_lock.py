"""The lock file says exactly which jars; a mistake in it is named."""

from __future__ import annotations

import re

import pytest

from ematix_flow.engine.jars.lock import parse_lock, shipped_lock
from ematix_flow.errors import JarError, UnknownName

SHA = "a" * 64


@pytest.mark.proves("jars-verified")
def test_the_shipped_lock_is_whole():
    lock = shipped_lock()
    assert {"postgres", "mysql", "kafka", "avro", "delta", "iceberg", "s3", "aws-msk"} <= set(
        lock.connectors
    )
    for connector in lock.connectors.values():
        assert connector.about
        assert connector.jars
        for jar in connector.jars:
            assert re.fullmatch(r"[0-9a-f]{64}", jar.sha256)
    names = [jar.file_name for jar in lock.jars(lock.connectors)]
    assert len(names) == len(set(names))


def test_a_jar_is_named_by_group_artifact_version_and_classifier():
    lock = parse_lock(f'[connectors.x]\njars=["g.h:a:1:all"]\n[sha256]\n"g.h:a:1:all"="{SHA}"')
    (jar,) = lock.jars(["x"])
    assert jar.file_name == "g.h_a-1-all.jar"


def test_shared_jars_come_once():
    text = f'[connectors]\nx.jars=["g:a:1"]\ny.jars=["g:a:1"]\n[sha256]\n"g:a:1"="{SHA}"'
    assert len(parse_lock(text).jars(["x", "y"])) == 1


def test_an_unknown_connector_is_guessed_at():
    with pytest.raises(UnknownName, match="did you mean 'postgres'"):
        shipped_lock().jars(["postgress"])


@pytest.mark.proves("jars-verified")
@pytest.mark.parametrize("sha", ["", "abc"])
def test_a_jar_without_a_hash_is_refused(sha):
    with pytest.raises(JarError, match=r"connector 'x' has no SHA-256 for 'g:a:1'"):
        parse_lock(f'[connectors.x]\njars=["g:a:1"]\n[sha256]\n"g:a:1"="{sha}"')


def test_a_broken_file_is_a_jar_error():
    with pytest.raises(JarError, match="not valid TOML"):
        parse_lock("[connectors")
