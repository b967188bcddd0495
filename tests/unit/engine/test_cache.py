"""The cache directory can be chosen, and is never made by looking."""

from __future__ import annotations

from pathlib import Path

from ematix_flow.engine.host.cache import cache_directory
from ematix_flow.engine.host.java import Java
from ematix_flow.engine.spark.archive import archive_options, archive_path, is_archive_option


def test_the_variable_wins(tmp_path):
    assert cache_directory({"EMATIX_FLOW_CACHE": str(tmp_path / "c")}) == tmp_path / "c"
    assert not (tmp_path / "c").exists()


def test_else_it_is_the_users_cache():
    assert cache_directory({}).name == "ematix-flow"


def test_the_class_archive_belongs_to_one_java(tmp_path):
    one = Java(home=Path("/jvm/a"), version="17.0.1", origin="test")
    other = Java(home=Path("/jvm/b"), version="17.0.1", origin="test")
    assert archive_path(one, tmp_path) != archive_path(other, tmp_path)


def test_the_archive_is_used_only_when_it_is_there(tmp_path):
    java = Java(home=Path("/jvm/a"), version="17.0.1", origin="test")
    assert archive_options(java, tmp_path) == ()
    path = archive_path(java, tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    options = archive_options(java, tmp_path)
    assert f"-XX:SharedArchiveFile={path}" in options
    assert all(is_archive_option(option) for option in options)
