"""The pages that the code writes are those in the repository."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def generator():
    spec = importlib.util.spec_from_file_location(
        "generate_docs", ROOT / "tools" / "generate_docs.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.proves("docs-generated")
def test_generated_pages_are_up_to_date(generator):
    assert generator.stale() == [], "run `make docs`"


def test_every_command_is_documented(generator):
    page = generator.cli_page()
    for command in generator.flow.list_commands(None):
        assert f"## `flow {command}`" in page
