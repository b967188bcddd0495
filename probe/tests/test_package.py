"""The probe package stands alone."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import ematix_probe

LOADED = """
import pkgutil, sys
import ematix_probe
for module in pkgutil.walk_packages(ematix_probe.__path__, "ematix_probe."):
    __import__(module.name)
print(*sorted(name for name in sys.modules if name.split(".")[0].startswith("ematix")))
"""


def test_is_installed_under_its_own_version():
    assert version("ematix-probe") == ematix_probe.__version__


@pytest.mark.proves("layers")
def test_imports_nothing_of_ematix_flow():
    result = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    loaded = result.stdout.split()
    assert "ematix_probe" in loaded
    assert [name for name in loaded if not name.startswith("ematix_probe")] == []
