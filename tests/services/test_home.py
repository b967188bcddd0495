"""Where a home is and what may live in it."""

from __future__ import annotations

import os
from pathlib import Path

from tests.services.account import Account
from tests.services.home import VARIABLE, Home

STRANGER = Account(name="stranger", uid=os.getuid() + 1, gid=os.getgid() + 1)


def test_the_variable_chooses_the_home(tmp_path: Path) -> None:
    assert Home.from_environment({VARIABLE: str(tmp_path)}).root == tmp_path.resolve()


def test_without_the_variable_the_home_is_in_the_users_cache() -> None:
    root = Home.from_environment({}).root
    assert root == (Path.home() / ".cache" / "ematix-flow" / "test-services").resolve()


def test_an_account_reaches_a_folder_only_through_open_ones(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    inner.chmod(0o755)
    inner.parent.chmod(0o700)
    assert not STRANGER.reaches(inner)


def test_an_account_reaches_the_folder_for_temporary_files() -> None:
    assert STRANGER.reaches(Path("/var/tmp"))


def test_a_servers_directory_is_new_private_and_named_by_its_token(tmp_path: Path) -> None:
    home = Home(tmp_path)
    first = home.new_directory("s3", "token", None)
    second = home.new_directory("s3", "token", None)
    assert first != second
    assert "token" in first.name
    assert first.stat().st_mode & 0o077 == 0
