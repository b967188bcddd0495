import pytest

from ematix_flow.connections.inline import ALLOW


@pytest.fixture(autouse=True)
def _warnings_are_given(monkeypatch):
    """Whoever silenced them for their own work."""
    monkeypatch.delenv(ALLOW, raising=False)
